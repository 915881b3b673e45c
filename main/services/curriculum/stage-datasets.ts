/** Generates missing datasets of stages from the workspace's texts, or from the bundled ones if it has none. */
import { join } from 'node:path';
import { BraidError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { processTemplate } from '../../tasks/interleave/prompt.ts';
import { decideSides, defaultPairs, recordDataset, type StageSupply } from '../datasets/index.ts';
import { importBundled } from '../library/imports.ts';
import type { Library } from '../library/library.ts';
import { makeDatasets } from '../library/make-datasets.ts';
import { bundledTextFiles } from '../texts/bundled.ts';
import { readTexts } from '../texts/index.ts';
import { changeStage, newestByWords } from './edit.ts';

/** One seed for all lengths: the same texts are held out at each. */
const recipe = {
  ...defaultPairs,
  seed: 42,
  template: { name: processTemplate.name, version: processTemplate.version },
};

/**
 * Gives every stage without a dataset the newest of its length, or a new one. Returns the lengths that the texts aren't
 * sufficient for.
 */
export async function makeStageDatasets(library: Library): Promise<readonly StageSupply[]> {
  const { store } = library;
  assign(store);
  const lacking = stagesWithout(store);
  if (lacking.length === 0) return [];
  if (store.texts.list().length === 0) await importBundled(library);
  const stages = lacking.map(({ words }) => words);
  const { shortages } = await makeDatasets(library, { ...recipe, stages, replace: false });
  assign(store);
  return shortages;
}

function stagesWithout(store: Store): { readonly id: number; readonly words: number }[] {
  return store.stages
    .list()
    .flatMap(({ id, words, datasetId }) => (datasetId === null && words !== null ? [{ id, words }] : []));
}

/** Assigns existing datasets to the stages that lack one. */
function assign(store: Store): void {
  const there = newestByWords(store);
  store.transaction(() => {
    for (const { id, words } of stagesWithout(store)) {
      const dataset = there.get(words);
      if (dataset !== undefined) changeStage(store, id, { datasetId: dataset.id });
    }
  });
}

/** The demo's dataset: pairs of 10 words from the bundled texts, the same ones every time. Returns its id. */
export async function makeDemoDataset({ store, paths, workspace, workers }: Library): Promise<number> {
  const words = 10;
  const file = join(workspace.datasets, `demo-${words}words-seed${recipe.seed}.jsonl`);
  const texts = readTexts(bundledTextFiles(paths.datasets));
  const input = { ...recipe, template: processTemplate, texts, stages: [{ words, file }] };
  const { written, sides } = await workers.run('writeDatasets', input);
  const [made] = written;
  if (made === undefined)
    throw new BraidError('TEXTS_TOO_SHORT', 'Expected enough bundled texts for the demo, got too few');
  const { train, test, files, leakage } = made;
  // Later stages may use the same texts, imported by then: what was trained on here isn't held out there.
  decideSides(store, sides);
  const counts = { train: { length: train }, test: { length: test } };
  return recordDataset(store, { files, words, ...counts, seed: recipe.seed, template: processTemplate, leakage });
}

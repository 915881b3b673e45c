/** Datasets that stages lack, made from the workspace's texts; where it has none, from the bundled ones. */
import { join } from 'node:path';
import { BraidError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import { processTemplate } from '../tasks/interleave/prompt.ts';
import { bundledTextFiles } from './corpora/bundled.ts';
import { readTexts } from './corpora.ts';
import { changeStage, newestByWords } from './curriculum-edit.ts';
import { defaultPairs, recordDataset, type StageSupply } from './datasets.ts';
import { importBundled } from './library/imports.ts';
import { makeDatasets } from './library/make-datasets.ts';
import type { Library } from './library.ts';

/** One seed for all lengths: the same texts are held out at each. */
const recipe = {
  ...defaultPairs,
  seed: 42,
  template: { name: processTemplate.name, version: processTemplate.version },
};

/**
 * Gives every stage that has none a dataset: the newest of its length, or a new one. Gives the lengths that the texts
 * can't serve.
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

/** What there is goes to the stages that lack it. */
function assign(store: Store): void {
  const there = newestByWords(store);
  store.transaction(() => {
    for (const { id, words } of stagesWithout(store)) {
      const dataset = there.get(words);
      if (dataset !== undefined) changeStage(store, id, { datasetId: dataset.id });
    }
  });
}

/** The demo's dataset: pairs of 10 words from the bundled texts, the same ones every time. Gives its id. */
export async function makeDemoDataset({ store, paths, workspace, workers }: Library): Promise<number> {
  const words = 10;
  const file = join(workspace.datasets, `demo-${words}words-seed${recipe.seed}.jsonl`);
  const texts = readTexts(bundledTextFiles(paths.datasets));
  const input = { ...recipe, template: processTemplate, texts, stages: [{ words, file }] };
  const [made] = (await workers.run('writeDatasets', input)).written;
  if (made === undefined) throw new BraidError('TEXTS_TOO_SHORT', 'Expected bundled texts for the demo, got too few');
  const { train, test, files } = made;
  const counts = { train: { length: train }, test: { length: test } };
  return recordDataset(store, { files, words, ...counts, seed: recipe.seed, template: processTemplate });
}

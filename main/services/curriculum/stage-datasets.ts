/** Generates missing datasets of stages from the workspace's texts, or from the bundled ones if it has none. */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import type { DatasetRow } from '../../store/datasets.ts';
import type { Store } from '../../store/index.ts';
import { processTemplate } from '../../tasks/interleave/prompt.ts';
import { decideSides, defaultPairs, recordDataset, type StageSupply } from '../datasets/index.ts';
import { importBundled } from '../library/imports.ts';
import type { Library } from '../library/library.ts';
import { makeDatasets } from '../library/make-datasets.ts';
import { bundledTextFiles } from '../texts/bundled.ts';
import { readTexts } from '../texts/index.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { changeStage, newestByWords } from './edit.ts';
import { sharedFields } from './shared-settings.ts';

/** One seed for all lengths: the same texts are held out at each. */
const recipe = {
  ...defaultPairs,
  seed: 42,
  template: { name: processTemplate.name, version: processTemplate.version },
};
const MOST_PAIRS = 4000;

/**
 * Gives every stage without a dataset its own one again, under the name that its runs know, otherwise the newest of its
 * length, or a new one. Returns the lengths that the texts aren't sufficient for.
 */
export async function makeStageDatasets(library: Library): Promise<readonly StageSupply[]> {
  const { store } = library;
  assignOwn(store);
  const lost = stagesLosing(store);
  const isOwn = new Set(lost.map(({ id }) => id));
  assign(store, isOwn);
  const lacking = stagesWithout(store).filter(({ id }) => !isOwn.has(id));
  if (lacking.length + lost.length === 0) return [];
  if (store.texts.list().length === 0) await importBundled(library);
  const { shortages: ownShortages, foreign } = await restoreOwn(library, lost);
  const stages = lacking.map(({ words }) => words);
  const { shortages } =
    stages.length === 0
      ? { shortages: [] }
      : await makeDatasets(library, { ...recipe, train: pairsOf(library), stages, replace: false });
  assign(store, isOwn);
  if (foreign.length > 0) throw notMadeHere(foreign);
  return [...ownShortages, ...shortages];
}

/** As many pairs as a warm-up takes: supervised steps learn more from new pairs than from the same ones again. */
function pairsOf({ store, paths }: Pick<Library, 'store' | 'paths'>): number {
  const { warm_up_steps: steps = 0, warm_up_batch_size: size = 16 } = sharedFields(store, paths);
  return Math.max(recipe.train, Math.min(MOST_PAIRS, Number(steps) * Number(size)));
}

/** A stage whose own dataset is gone: removed, or its file deleted. */
interface LosingStage {
  readonly id: number;
  readonly name: string;
  readonly words: number;
  readonly file: string;
  /** What is still known of how it was made. */
  readonly row: DatasetRow | undefined;
}

/** Stages whose dataset is gone and is known by name: from its row, or from the stage's latest run. */
function stagesLosing(store: Store): readonly LosingStage[] {
  return store.stages.list().flatMap(({ id, name, words, datasetId }): LosingStage[] => {
    const row = datasetId === null ? undefined : store.datasets.get(datasetId);
    const stored = row?.file ?? store.runs.ofStage(id)[0]?.dataset;
    if (words === null || stored === undefined) return [];
    const file = fromStoredPath(store.folder, stored);
    return existsSync(file) ? [] : [{ id, name, words, file, row }];
  });
}

/** Makes each lost dataset again, under its own name, and gives it to its stage. */
async function restoreOwn(library: Library, lost: readonly LosingStage[]) {
  const { store, workspace } = library;
  const shortages: StageSupply[] = [];
  const foreign: LosingStage[] = [];
  for (const stage of lost) {
    const { words, file, row } = stage;
    if (file === demoFile(library)) {
      await makeDemoDataset(library);
      continue;
    }
    const [, name, length] = /^(?:(.+)-)?(\d+)words\.jsonl$/.exec(basename(file)) ?? [];
    const isMade = row === undefined || row.task === 'interleave';
    if (!isMade || length !== String(words) || dirname(file) !== workspace.datasets) {
      foreign.push(stage);
      continue;
    }
    const known = row === undefined ? {} : { seed: row.seed, train: row.trainN, test: row.testN, ...templateOf(row) };
    // Nothing is replaced: the file isn't there.
    const options = { ...recipe, ...known, stages: [words], name, replace: true };
    if (!existsSync(file)) shortages.push(...(await makeDatasets(library, options)).shortages);
  }
  assignOwn(store);
  return { shortages, foreign };
}

/** As it was recorded: `process v1`. */
function templateOf({ template }: DatasetRow): Partial<typeof recipe> {
  const [, name, version] = /^(.+) v(\d+)$/.exec(template ?? '') ?? [];
  return name === undefined ? {} : { template: { name, version: Number(version) } };
}

function notMadeHere(stages: readonly LosingStage[]): BraidError {
  const all = stages.map(({ name, file }) => `"${name}" (${basename(file)})`).join(', ');
  return inputError(
    'DATASET_NOT_MADE_HERE',
    `The datasets of these stages were not made from texts here, so they can't be made again: ${all}. All others are there`,
    'Put the file back where it was or import it again under its name, or choose another dataset under Adjust.',
  );
}

/** Where the dataset that a stage's latest run was trained on is there, it is the stage's again. */
function assignOwn(store: Store): void {
  store.transaction(() => {
    for (const { id } of stagesWithout(store)) {
      const stored = store.runs.ofStage(id)[0]?.dataset;
      const row = stored === undefined ? undefined : store.datasets.byFile(fromStoredPath(store.folder, stored));
      if (row !== undefined && existsSync(fromStoredPath(store.folder, row.file)))
        changeStage(store, id, { datasetId: row.id });
    }
  });
}

function stagesWithout(store: Store): { readonly id: number; readonly words: number }[] {
  return store.stages
    .list()
    .flatMap(({ id, words, datasetId }) => (datasetId === null && words !== null ? [{ id, words }] : []));
}

/** Assigns existing datasets to the stages that lack one, but not to those that get their own again. */
function assign(store: Store, except: ReadonlySet<number>): void {
  const there = newestByWords(store);
  store.transaction(() => {
    for (const { id, words } of stagesWithout(store)) {
      const dataset = there.get(words);
      if (dataset !== undefined && !except.has(id)) changeStage(store, id, { datasetId: dataset.id });
    }
  });
}

const DEMO_WORDS = 10;

function demoFile({ workspace }: Pick<Library, 'workspace'>): string {
  return join(workspace.datasets, `demo-${DEMO_WORDS}words-seed${recipe.seed}.jsonl`);
}

/** The demo's dataset: pairs of 10 words from the bundled texts, the same ones every time. Returns its id. */
export async function makeDemoDataset({ store, paths, workspace, workers }: Library): Promise<number> {
  const file = demoFile({ workspace });
  const texts = readTexts(bundledTextFiles(paths.datasets));
  const input = { ...recipe, template: processTemplate, texts, stages: [{ words: DEMO_WORDS, file }] };
  const { written, sides } = await workers.run('writeDatasets', input);
  const [made] = written;
  if (made === undefined)
    throw new BraidError('TEXTS_TOO_SHORT', 'Expected enough bundled texts for the demo, got too few');
  const { train, test, files, leakage } = made;
  // Later stages may use the same texts, imported by then: what was trained on here isn't held out there.
  decideSides(store, sides);
  const counts = { train: { length: train }, test: { length: test } };
  return recordDataset(store, {
    files,
    words: DEMO_WORDS,
    ...counts,
    seed: recipe.seed,
    template: processTemplate,
    leakage,
  });
}

/** Generating datasets from the corpus: a preview first, then the files in the workspace. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { checkDatasetName } from '../datasets/dataset-name.ts';
import { datasetFiles } from '../datasets/files.ts';
import { decideSides, recordDataset } from '../datasets/recorded.ts';
import type { PairCounts, StageSupply } from '../datasets/supply.ts';
import { requireTemplate } from '../datasets/templates.ts';
import type { KnownModel } from '../datasets/unwritable.ts';
import type { DatasetPreview, WriteResult, WrittenDataset } from '../text-worker/dataset-tasks.ts';
import { checkUnused, dependentsOf } from './catalogue.ts';
import { corpusOf, type Library } from './library.ts';

/** How records are generated; the template by name and version. */
export interface RecipeOptions extends PairCounts {
  readonly seed: number;
  readonly template: { readonly name: string; readonly version: number };
  /** The model that is likely to be trained; null or absent: it isn't known. */
  readonly model?: KnownModel | null;
}

export interface MakeDatasetsOptions extends RecipeOptions {
  readonly stages: readonly number[];
  /** Prefix of the file names: `river` gives `river-10words.jsonl`. */
  readonly name?: string | undefined;
  /** One dataset of all the lengths together, shortest first, in place of one for each. */
  readonly mixed?: boolean | undefined;
  /** Whether existing files with these names may be replaced. */
  readonly replace: boolean;
}

/** What was generated. */
export interface MadeDatasets {
  readonly made: readonly (Omit<WrittenDataset, 'files'> & { readonly id: number; readonly name: string })[];
  readonly shortages: readonly StageSupply[];
}

/** A name already in use, and what depends on its dataset. */
export interface TakenName {
  readonly name: string;
  readonly runs: readonly string[];
  readonly stages: readonly string[];
}

/** Preview: the first records for these options; nothing is stored. */
export function previewStage(
  library: Library,
  options: RecipeOptions & { readonly words: number; readonly show: number },
  signal?: AbortSignal,
): Promise<DatasetPreview> {
  const { name, version } = options.template;
  const template = requireTemplate(library.store, name, version);
  return library.workers.run('previewDataset', { ...options, template, texts: corpusOf(library.store) }, { signal });
}

/** Which of the names are already in use. */
export function takenNames(
  library: Pick<Library, 'store' | 'workspace'>,
  { stages, name, mixed = false }: Pick<MakeDatasetsOptions, 'stages' | 'name' | 'mixed'>,
) {
  const lengths = mixed ? [mixtureOf(stages)] : stages;
  return lengths.flatMap((words): TakenName[] => {
    const file = fileOf(library, words, name);
    const row = library.store.datasets.byFile(file);
    if (row === undefined) return existsSync(file) ? [{ name: nameOf(words, name), runs: [], stages: [] }] : [];
    const { runs, stages: planned } = dependentsOf(library.store, row);
    return [{ name: row.name, runs: runs.map((run) => run.name), stages: planned.map((stage) => stage.name) }];
  });
}

/** Generates the datasets, each atomically. When cancelled, the finished ones are kept. */
export async function makeDatasets(library: Library, options: MakeDatasetsOptions): Promise<MadeDatasets> {
  const { store } = library;
  const { stages: asked, name, replace, mixed = false, ...recipe } = options;
  const words = [...new Set(asked)].sort((a, b) => a - b);
  if (words.length === 0) throw inputError('BAD_DATASET_OPTION', 'Expected at least one word count, got none');
  if (mixed && words.length < 2)
    throw inputError('BAD_DATASET_OPTION', `Expected at least two word counts to mix, got ${words.length}`);
  checkName(name);
  if (!replace) refuseTaken(takenNames(library, { stages: words, name, mixed }));
  const files = words.map((count) => ({ words: count, file: fileOf(library, count, name) }));
  const mixedFile = mixed ? fileOf(library, mixtureOf(words), name) : null;
  for (const file of mixedFile === null ? files.map((stage) => stage.file) : [mixedFile]) {
    const row = store.datasets.byFile(file);
    if (row !== undefined) checkUnused(store, row);
  }
  const template = requireTemplate(store, recipe.template.name, recipe.template.version);
  const single = mixed ? mixtureOf(words) : words.length === 1 ? (words[0] ?? 0) : null;
  const title = single !== null ? `Generate ${nameOf(single, name)}` : `Generate ${words.length} datasets`;
  const { result } = library.jobs.start('datasets', title, async ({ signal, progress }) => {
    progress({ done: 0, total: words.length, unit: 'stages' });
    const input = { ...recipe, template, texts: corpusOf(store), stages: files, mixedFile };
    const written = await library.workers.run('writeDatasets', input, { signal, onProgress: progress });
    const made = recordAll(library, written, { ...recipe, template });
    if (written.cancelled.length > 0) throw cancelled(made.made.map((dataset) => dataset.name));
    if (made.made.length === 0) throw nothingServed(made.shortages);
    return made;
  });
  return result;
}

function recordAll(
  { store, changes }: Library,
  { written, shortages, sides }: WriteResult,
  recipe: Pick<Parameters<typeof recordDataset>[1], 'seed' | 'template'>,
): MadeDatasets {
  if (written.length > 0) decideSides(store, sides);
  const made = written.map(({ files, ...dataset }) => {
    const [train, test] = [{ length: dataset.train }, { length: dataset.test }];
    const { seed, template } = recipe;
    const id = recordDataset(store, {
      files,
      words: dataset.words,
      train,
      test,
      seed,
      template,
      leakage: dataset.leakage,
    });
    return { ...dataset, id, name: store.datasets.get(id)?.name ?? '' };
  });
  if (made.length > 0) changes.publish('datasets');
  return { made, shortages };
}

/** The word counts in the name of a mixture: `10-25-50`, as the command line names them. */
function mixtureOf(words: readonly number[]): string {
  return [...new Set(words)].sort((a, b) => a - b).join('-');
}

function nameOf(words: number | string, name?: string): string {
  return name === undefined || name === '' ? `${words}words` : `${name}-${words}words`;
}

function fileOf({ workspace }: Pick<Library, 'workspace'>, words: number | string, name?: string): string {
  return datasetFiles(join(workspace.datasets, `${nameOf(words, name)}.jsonl`)).train;
}

/** A name becomes part of that of each file. */
function checkName(name: string | undefined): void {
  if (name === undefined || name === '') return;
  checkDatasetName(name, false, 'Leave it empty for names such as 10words.');
}

function refuseTaken(taken: readonly TakenName[]): void {
  if (taken.length === 0) return;
  const names = taken.map(({ name }) => name).join(', ');
  throw inputError('DATASET_EXISTS', `${names} already exists`, 'Choose another name, or replace the existing files.');
}

function cancelled(kept: readonly string[]): BraidError {
  const rest = kept.length === 0 ? 'nothing was generated' : `these were finished and are kept: ${kept.join(', ')}`;
  return new BraidError('CANCELLED', `Cancelled; ${rest}`, { kind: 'input' });
}

function nothingServed(shortages: readonly StageSupply[]): BraidError {
  return inputError(
    'TEXTS_TOO_SHORT',
    shortages.map((stage) => stage.shortage).join('\n'),
    'Import or merge longer texts, or reduce the number or length of pairs.',
  );
}

/** Importing in two steps: preview, then apply. */
import { statSync } from 'node:fs';
import { basename } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import type { MergeImportInput, ReadImport } from '../text-worker/import-tasks.ts';
import { cancelled } from '../text-worker/workers.ts';
import { bundledTextFiles } from '../texts/bundled.ts';
import { applyChange, type CorpusChange } from '../texts/corpus-change.ts';
import type { SourceText } from '../texts/source-text.ts';
import type { ImportSource } from '../texts/sources.ts';
import { resultWhileAsked } from '../workspace/asked-job.ts';
import { corpusOf, type Library } from './library.ts';

/** What an import would change, and its pending id. */
export interface ImportPreview extends Omit<ReadImport, 'sources' | 'places'> {
  readonly importId: number;
}

/** What an import changed. */
export interface ImportOutcome {
  readonly added: number;
  /** Titles of shorter versions that were replaced. */
  readonly removed: readonly string[];
  readonly leftOut: number;
}

export interface ReadOptions {
  readonly minWords?: number | undefined;
  readonly splitAtHeadings?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** All files of one import together. */
const MAX_BYTES = 64 * 2 ** 20;

/** Reads files and previews what they would change; nothing is stored. */
export async function openImport(
  library: Library,
  files: readonly ImportSource[],
  { signal: asker, ...options }: ReadOptions = {},
): Promise<ImportPreview> {
  // A listener added after the abort would never be called.
  if (asker?.aborted) throw cancelled();
  checkSize(files);
  const title = files.length === 1 ? `Read ${files[0]?.name}` : `Read ${files.length} files`;
  const job = library.jobs.start('import', title, ({ signal, progress }) =>
    library.workers.run(
      'readImport',
      { corpus: corpusOf(library.store), files, ...options },
      { signal, onProgress: progress },
    ),
  );
  const { sources, places, ...shown } = await resultWhileAsked(library.jobs, job, asker);
  return { ...shown, importId: library.staged.hold({ texts: sources, places }) };
}

/** The same for files on the host. */
export function openImportPaths(library: Library, paths: readonly string[], options: ReadOptions = {}) {
  return openImport(
    library,
    paths.map((path) => ({ name: basename(path), path })),
    options,
  );
}

/** What the user decided about the texts of an import, by position. */
export interface ImportChoices {
  readonly without?: readonly number[] | undefined;
  /** For near duplicates: what to keep in place of what their lengths suggest. */
  readonly keep?: MergeImportInput['keep'] | undefined;
}

/** Imports what was previewed, as the user decided. */
export async function confirmImport(
  library: Library,
  importId: number,
  { without = [], keep = [] }: ImportChoices = {},
): Promise<ImportOutcome> {
  const leftOut = new Set(without);
  const positions = library.staged
    .get(importId)
    .texts.flatMap((text, i) => (leftOut.has(i) ? [] : [[i, text] as const]));
  const choices = new Map(keep.map((choice) => [choice.position, choice.keep]));
  const chosen = positions.flatMap(([i], position) => {
    const choice = choices.get(i);
    return choice === undefined ? [] : [{ position, keep: choice }];
  });
  const outcome = await bringIn(
    library,
    positions.map(([, text]) => text),
    chosen,
  );
  library.staged.drop(importId);
  return outcome;
}

/** Imports the bundled texts. */
export async function importBundled(library: Library): Promise<ImportOutcome> {
  const preview = await openImportPaths(library, bundledTextFiles(library.paths.datasets));
  const bad = preview.files.find(({ faultCount }) => faultCount > 0)?.faults[0];
  if (bad !== undefined) {
    library.staged.drop(preview.importId);
    throw new BraidError('BUNDLED_TEXTS_BAD', `The bundled texts can't be read: ${bad.file}: ${bad.reason}`, {
      remedy: 'Install Braid again.',
    });
  }
  return confirmImport(library, preview.importId);
}

async function bringIn(
  library: Library,
  texts: readonly SourceText[],
  keep: MergeImportInput['keep'],
): Promise<ImportOutcome> {
  if (texts.length === 0) throw inputError('NOTHING_TO_IMPORT', 'Expected at least one text to import, got none');
  const title = texts.length === 1 ? 'Import a text' : `Import ${texts.length} texts`;
  const { result } = library.jobs.start('import', title, async ({ signal, progress }) => {
    const options = { signal, onProgress: progress };
    const merged = await changeCorpus(library, (corpus) =>
      library.workers.run('mergeImport', { corpus, incoming: texts, keep }, options),
    );
    return { added: merged.change.add.length, removed: merged.removed, leftOut: merged.leftOut };
  });
  return result;
}

/** Computes a change and applies it; retries if the corpus changed in between. Adds the ids of the added texts. */
export async function changeCorpus<T extends { readonly change: CorpusChange }>(
  library: Pick<Library, 'store' | 'changes'>,
  work: (corpus: SourceText[]) => Promise<T>,
): Promise<T & { readonly ids: readonly number[] }> {
  const { store, changes } = library;
  for (;;) {
    const before = store.texts.state();
    const result = await work(corpusOf(store));
    if (store.texts.state() !== before) continue;
    const ids = applyChange(store, result.change);
    changes.publish('texts');
    return { ...result, ids };
  }
}

function checkSize(files: readonly ImportSource[]): void {
  if (files.length === 0) throw inputError('NOTHING_TO_IMPORT', 'Expected at least one file to import, got none');
  const bytes = files.reduce((sum, file) => sum + ('bytes' in file ? file.bytes.length : sizeOf(file.path)), 0);
  if (bytes <= MAX_BYTES) return;
  throw inputError(
    'IMPORT_TOO_LARGE',
    `Expected at most ${MAX_BYTES / 2 ** 20} MiB in one import, got ${Math.ceil(bytes / 2 ** 20)} MiB`,
    'Import the files in several batches.',
  );
}

/** 0 where it can't be found out, for example for a name that is too long: the reader reports it. */
function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}

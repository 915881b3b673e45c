/** The texts that a command works on. */
import { existsSync } from 'node:fs';
import { faultsError } from '../io/text-file.ts';
import { openDocuments } from '../services/text-worker/document-thread.ts';
import { bundledTextFiles } from '../services/texts/bundled.ts';
import { type CorpusText, mergeTexts, type ParseOptions, readCorpus, storedTexts } from '../services/texts/index.ts';
import { type ReadSources, readSources } from '../services/texts/sources.ts';
import { openUpToDate } from '../services/workspace/read-only.ts';
import { hostPaths } from './host-paths.ts';
import type { CommandContext } from './shared.ts';

/** Texts, and where they came from. */
export interface ChosenCorpus {
  readonly origin: 'files' | 'workspace' | 'bundled';
  readonly texts: readonly CorpusText[];
}

/** The texts of the given files; without files the workspace's, or the bundled ones if it has none. */
export async function chooseCorpus(
  context: CommandContext,
  files: readonly string[],
  minWords?: number,
): Promise<ChosenCorpus> {
  if (files.length > 0) return { origin: 'files', texts: await corpusOf(files, minWords) };
  const stored = workspaceTexts(context);
  if (stored.length > 0) return { origin: 'workspace', texts: stored };
  return { origin: 'bundled', texts: readCorpus(bundledTextFiles(hostPaths().datasets)) };
}

/** The files, folders and archives of a command. */
export async function readFiles(files: readonly string[], options: ParseOptions): Promise<ReadSources> {
  const documents = openDocuments(hostPaths().textWorker);
  const sources = files.map((path) => ({ name: path, path }));
  return readSources(sources, options, documents).finally(documents.close);
}

async function corpusOf(files: readonly string[], minWords: number | undefined): Promise<readonly CorpusText[]> {
  const read = await readFiles(files, { minWords });
  const faults = read.files.flatMap((file) => file.faults);
  if (faults.length > 0) throw faultsError('BAD_TEXTS', faults, 'Nothing was read. Fix these and try again.');
  return mergeTexts(
    [],
    read.files.flatMap(({ texts }) => texts),
  ).texts;
}

/** Reading must not create a workspace. */
function workspaceTexts(context: CommandContext): CorpusText[] {
  if (!existsSync(context.workspace.database)) return [];
  const store = openUpToDate(context.workspace);
  try {
    return storedTexts(store);
  } finally {
    store.close();
  }
}

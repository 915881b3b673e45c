/** The texts that a command works on. */
import { existsSync } from 'node:fs';
import { bundledTextFiles } from '../services/texts/bundled.ts';
import { type CorpusText, readCorpus, storedTexts } from '../services/texts/index.ts';
import { openStore } from '../store/index.ts';
import { hostPaths } from './host-paths.ts';
import type { CommandContext } from './shared.ts';

/** Texts, and where they came from. */
export interface ChosenCorpus {
  readonly origin: 'files' | 'workspace' | 'bundled';
  readonly texts: readonly CorpusText[];
}

/** The texts of the given files; without files the workspace's, or the bundled ones if it has none. */
export function chooseCorpus(context: CommandContext, files: readonly string[], minWords?: number): ChosenCorpus {
  const options = minWords === undefined ? {} : { minWords };
  if (files.length > 0) return { origin: 'files', texts: readCorpus(files, options) };
  const stored = workspaceTexts(context);
  if (stored.length > 0) return { origin: 'workspace', texts: stored };
  return { origin: 'bundled', texts: readCorpus(bundledTextFiles(hostPaths().datasets)) };
}

/** Reading must not create a workspace. */
function workspaceTexts(context: CommandContext): CorpusText[] {
  if (!existsSync(context.workspace.database)) return [];
  const store = openStore(context.workspace.database);
  try {
    return storedTexts(store);
  } finally {
    store.close();
  }
}

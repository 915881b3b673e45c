/** The model whose tokenizer a new dataset is checked with: a chosen one, otherwise the curriculum's, or the bundled one. */
import { existsSync } from 'node:fs';
import { curriculumModel } from '../services/curriculum/shared-settings.ts';
import type { KnownModel } from '../services/datasets/unwritable.ts';
import { resolveModel } from '../services/models/resolve.ts';
import { openStore } from '../store/index.ts';
import { hostPaths } from './host-paths.ts';
import type { CommandContext } from './shared.ts';

/** null: the curriculum's isn't here. No workspace is made for it. */
export function modelToCheck({ workspace }: CommandContext, given: string | undefined): KnownModel | null {
  const paths = hostPaths();
  if (given !== undefined) return { name: given, folder: resolveModel(given, paths) };
  if (!existsSync(workspace.database)) return { name: 'tiny', folder: resolveModel('tiny', paths) };
  const store = openStore(workspace.database);
  try {
    return curriculumModel(store, paths);
  } finally {
    store.close();
  }
}

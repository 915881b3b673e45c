/** A model as a command is given it: a folder, a bundled model, or a run of the workspace by its name. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { isBundled } from '../services/models/resolve.ts';
import { checkpointOfRun } from '../services/runs/from-checkpoint.ts';
import { isPath } from '../services/runs/is-path.ts';
import { openStore } from '../store/index.ts';
import { hostPaths } from './host-paths.ts';
import type { CommandContext } from './shared.ts';

/** The newest checkpoint of the run that is called so; what else it may be stays as it is. */
export function namedCheckpoint({ workspace }: Pick<CommandContext, 'workspace'>, given: string): string {
  const isOther = isPath(given) || isBundled(given, hostPaths()) || existsSync(resolve(given));
  if (isOther || !existsSync(workspace.database)) return given;
  const store = openStore(workspace.database);
  try {
    return checkpointOfRun(store, given) ?? given;
  } finally {
    store.close();
  }
}

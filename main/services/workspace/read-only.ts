/** An existing workspace for reading, next to the app or a command that writes to it. */
import { existsSync } from 'node:fs';
import { BraidError, inputError } from '../../errors.ts';
import { openStore, type Store } from '../../store/index.ts';
import type { Workspace } from './workspace.ts';

/** Opens the history of an existing workspace; nothing is created, and every attempt to write fails. */
export function openForReading({ root, database }: Workspace): Store {
  if (existsSync(database)) return openStore(database, { readOnly: true });
  throw inputError(
    'NO_WORKSPACE',
    existsSync(root) ? `There is no Braid workspace in ${root}` : `There is no folder ${root}`,
    'Name the workspace of the run with --workspace, or in BRAID_WORKSPACE.',
  );
}

/** The same, brought up to date if it was moved or is of an older version, as far as this user may write there. */
export function openUpToDate(workspace: Workspace): Store {
  try {
    if (existsSync(workspace.database)) return openStore(workspace.database);
  } catch (error) {
    if (!(error instanceof BraidError) || error.code !== 'DATABASE_READ_ONLY') throw error;
  }
  return openForReading(workspace);
}

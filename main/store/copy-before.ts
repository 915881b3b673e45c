/** A copy of a database before it is migrated: the way back to the Braid that wrote it. */
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { databaseError } from './errors.ts';

/** Where the database was kept as it was at `version`: beside it, under a name that no Braid opens by itself. */
export function copyBefore(file: string, version: number): string {
  return `${file}.v${version}`;
}

/**
 * Keeps the database at `file` as it is. The caller holds the right to write, so that nothing is stored after the copy
 * that the copy lacks; a connection of its own reads meanwhile. A process killed here leaves a part that the next replaces.
 */
export function keepCopyBefore(file: string, version: number): void {
  const copy = copyBefore(file, version);
  const part = `${copy}.part`;
  const reader = new Database(file, { readonly: true, fileMustExist: true });
  try {
    rmSync(part, { force: true });
    // SQLite would give it the mode of any new file.
    closeSync(openSync(part, 'wx', 0o600));
    reader.prepare('vacuum into ?').run(part);
    renameSync(part, copy);
  } catch (error) {
    rmSync(part, { force: true });
    throw databaseError(error, file);
  } finally {
    reader.close();
  }
}

/** A copy of a database before it is migrated: the way back to the Braid that wrote it. */
import { closeSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { BraidError } from '../errors.ts';
import { errorCode, writeError } from '../io/atomic-write.ts';
import { databaseError, isDiskFull } from './errors.ts';

/** Where the database was kept as it was at `version`: beside it, under a name that no Braid opens by itself. */
export function copyBefore(file: string, version: number): string {
  return `${file}.v${version}`;
}

/** The copies that are kept beside a database. */
export function copiesOf(file: string): readonly string[] {
  const isCopy = (name: string): boolean => name.startsWith(`${basename(file)}.v`) && /\.v\d+$/.test(name);
  return readdirSync(dirname(file))
    .filter(isCopy)
    .map((name) => join(dirname(file), name));
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
    remove(part);
    // SQLite would give it the mode of any new file.
    closeSync(openSync(part, 'wx', 0o600));
    reader.prepare('vacuum into ?').run(part);
    renameSync(part, copy);
  } catch (error) {
    remove(part);
    throw copyError(error, file, part);
  } finally {
    reader.close();
  }
}

/** With the journal that SQLite has beside it while it writes. */
function remove(part: string): void {
  for (const file of [part, `${part}-journal`]) rmSync(file, { force: true });
}

/** What the system or SQLite says against the copy, in words. */
export function copyError(error: unknown, file: string, part: string): unknown {
  const found = databaseError(writeError(error, part, 'a copy of the database before its update'), file);
  if (isDiskFull(found)) return noRoom(file, error);
  if (!['EROFS', 'EACCES', 'EPERM'].includes(errorCode(error) ?? '')) return found;
  return new BraidError('DATABASE_READ_ONLY', `Expected to update the database ${file}, but its folder is read-only`, {
    cause: error,
    remedy: 'Give this user write permission there, or copy the workspace and name the copy with --workspace.',
  });
}

function noRoom(file: string, cause: unknown): BraidError {
  const megabytes = Math.ceil(statSync(file).size / 2 ** 20);
  return new BraidError('DISK_FULL', `The disk is too full for the copy of ${file} that is kept before an update`, {
    cause,
    remedy: `Free about ${2 * megabytes} MiB on that disk, for the copy and the update, and try again; nothing was changed.`,
  });
}

/**
 * Work that one process at a time may do, such as reading a file, changing it and writing it. The lock is SQLite's own
 * on an empty file: the system releases it with its process, so that there is none left behind to judge by its age.
 */
import { closeSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';
import { BraidError } from '../errors.ts';
import { writeError } from '../io/atomic-write.ts';
import { explaining } from './errors.ts';
import { checkLength, checkNodeVersion } from './open.ts';

/** Such work takes milliseconds: who waits longer waits for a process that is paused. */
const WAIT_MS = 5000;

/** Does `work` while no other process does any under the lock `file`, which is made once and stays. `what`: what it changes. */
export function exclusively<T>(file: string, what: string, work: () => T, waitMs = WAIT_MS): T {
  checkNodeVersion(process.versions.node);
  checkLength(file);
  makeLock(file, what);
  const lock = new Database(file, { timeout: waitMs });
  try {
    explaining(file, () => take(lock, what));
    return work();
  } finally {
    lock.close();
  }
}

function makeLock(file: string, what: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    throw writeError(error, file, what);
  }
}

function take(lock: Database.Database, what: string): void {
  try {
    lock.exec('begin exclusive');
  } catch (error) {
    if (!(error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))) throw error;
    throw new BraidError('CHANGED_ELSEWHERE', `Another process is changing ${what}; nothing was changed here`, {
      cause: error,
      remedy: 'Try again; if it stays so, a paused Braid holds it: end that process.',
    });
  }
}

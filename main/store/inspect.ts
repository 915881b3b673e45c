/** Inspects a database without changing a byte of it. */
import Database from 'better-sqlite3';
import { explaining } from './errors.ts';
import { migrations } from './migrations/index.ts';

export interface DatabaseReport {
  /** The file's schema version, and the one that this Braid writes. */
  readonly version: number;
  readonly newest: number;
  readonly runs: number;
}

/** Reads a database's version and counts its runs; throws a readable error when it can't be read. */
export function inspectDatabase(file: string): DatabaseReport {
  return explaining(file, () => {
    const db = new Database(file, { readonly: true, fileMustExist: true });
    try {
      return {
        version: Number(db.pragma('user_version', { simple: true })),
        newest: Math.max(0, ...migrations.map(({ version }) => version)),
        runs: db.prepare<[], number>('select count(*) from run').pluck().get() ?? 0,
      };
    } finally {
      db.close();
    }
  });
}

/** Opens braid.db: checks what the file is, sets it up, and brings it to the newest layout. */
import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { BraidError } from '../errors.ts';
import { explaining } from './errors.ts';
import { migrations as allMigrations } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';

export type Db = Database.Database;

export interface OpenOptions {
  readonly migrations?: readonly Migration[];
  /** How long a statement waits for another process's lock. */
  readonly busyTimeoutMs?: number;
}

/** "BRID": tells our databases from those of other programs. */
const applicationId = 0x42524944;

/** better-sqlite3's binary brings the process down on older versions, so this is asked before it is loaded. */
export function checkNodeVersion(version: string): void {
  const major = Number.parseInt(version, 10);
  if (major >= 22) return;
  throw new BraidError('NODE_TOO_OLD', `Expected Node 22 or newer for the database, got ${version}`, {
    kind: 'input',
    remedy: 'Start Braid through npm (npm run braid -- …), which uses the Node 24 that npm ci installed.',
  });
}

/** Opens and migrates the database at `file`, creating it where there is none. */
export function openDatabase(file: string, options: OpenOptions = {}): Db {
  checkNodeVersion(process.versions.node);
  const migrations = options.migrations ?? allMigrations;
  return explaining(file, () => {
    checkPlace(file);
    const db = new Database(file, { timeout: options.busyTimeoutMs ?? 5000 });
    try {
      checkFile(db, file, newestOf(migrations));
      configure(db);
      migrate(db, migrations);
      return db;
    } catch (error) {
      db.close();
      throw error;
    }
  });
}

/** What better-sqlite3 and SQLite would say in terms of their own. */
function checkPlace(file: string): void {
  const folder = dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new BraidError('NO_FOLDER', `Expected a folder at ${folder} for the database, got none`, {
      remedy: 'Make that folder, or choose another workspace with --workspace.',
    });
  }
  if (!statSync(file, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new BraidError('DATABASE_UNREADABLE', `Expected a database file at ${file}, got a folder`, {
    remedy: 'Move that folder away, or choose another workspace with --workspace.',
  });
}

/** Everything that can be refused without writing a byte. */
function checkFile(db: Db, file: string, newest: number): void {
  const version = numberPragma(db, 'user_version');
  const owner = numberPragma(db, 'application_id');
  const tables = db.prepare<[], number>('select count(*) from sqlite_schema').pluck().get() ?? 0;
  if (owner !== applicationId && (owner !== 0 || version !== 0 || tables !== 0)) {
    throw new BraidError('DATABASE_FOREIGN', `Expected a Braid database in ${file}, got another program's`, {
      remedy: 'Move that file away, or choose another workspace with --workspace.',
    });
  }
  refuseTruncated(db, file);
  if (version <= newest) return;
  throw new BraidError(
    'DATABASE_TOO_NEW',
    `Expected ${file} to be at version ${newest} or older, got version ${version}: a newer Braid wrote it`,
    {
      kind: 'input',
      remedy: 'Update Braid, or choose another workspace with --workspace; the file was not touched.',
    },
  );
}

/** SQLite notices a missing tail only when it reads there, which may be in the middle of a run. */
function refuseTruncated(db: Db, file: string): void {
  if (!existsSync(file) || existsSync(`${file}-wal`)) return;
  const expected = numberPragma(db, 'page_count') * numberPragma(db, 'page_size');
  const got = statSync(file).size;
  if (got >= expected) return;
  throw new BraidError(
    'DATABASE_UNREADABLE',
    `Expected ${file} to hold ${expected} bytes, got ${got}: it was truncated`,
    {
      remedy: 'Restore it from a backup, or move it away and start with a new one.',
    },
  );
}

function configure(db: Db): void {
  db.pragma('journal_mode = wal');
  db.pragma('synchronous = normal');
  db.pragma('foreign_keys = on');
}

/** Each migration and its version number are one transaction: a failure leaves the version before it. */
function migrate(db: Db, migrations: readonly Migration[]): void {
  for (const migration of migrations) {
    db.transaction(() => {
      if (numberPragma(db, 'user_version') >= migration.version) return;
      db.exec(migration.sql);
      db.pragma(`application_id = ${applicationId}`);
      db.pragma(`user_version = ${migration.version}`);
    }).immediate();
  }
}

function newestOf(migrations: readonly Migration[]): number {
  return Math.max(0, ...migrations.map((migration) => migration.version));
}

function numberPragma(db: Db, name: string): number {
  return Number(db.pragma(name, { simple: true }));
}

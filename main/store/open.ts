/** Opens braid.db: checks the file, sets it up, and migrates it to the newest schema. */
import { closeSync, existsSync, openSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { BraidError } from '../errors.ts';
import { pause } from '../io/pause.ts';
import { copyBefore, keepCopyBefore } from './copy-before.ts';
import { databaseError, explaining, explainStatements } from './errors.ts';
import { migrations as allMigrations } from './migrations/index.ts';
import type { Migration } from './migrations/migration.ts';

export type Db = Database.Database;

export interface OpenOptions {
  readonly migrations?: readonly Migration[];
  /** How long a statement waits for another process's lock. */
  readonly busyTimeoutMs?: number;
  /** Opens an existing database without writing to it: statements that write fail. */
  readonly readOnly?: boolean;
}

/** "BRID": distinguishes our databases from those of other programs. */
const applicationId = 0x42524944;

/** better-sqlite3's binary crashes the process on older versions, so this is checked before it is loaded. */
export function checkNodeVersion(version: string): void {
  const major = Number.parseInt(version, 10);
  if (major >= 22) return;
  throw new BraidError('NODE_TOO_OLD', `Expected Node 22 or newer for the database, got ${version}`, {
    kind: 'input',
    remedy: 'Start Braid through npm (npm run braid -- …), which uses the Node 24 that npm ci installed.',
  });
}

/** SQLite's own limit outside Windows, in bytes: it says no more than that the file can't be opened. */
const LONGEST_PATH = 504;

/** Refuses a file whose path SQLite can't open. */
export function checkLength(file: string): void {
  const bytes = Buffer.byteLength(file);
  if (process.platform === 'win32' || bytes <= LONGEST_PATH) return;
  throw new BraidError(
    'PATH_TOO_LONG',
    `The workspace's path is too long for a database: ${file} has ${bytes} bytes, SQLite opens at most ${LONGEST_PATH}`,
    {
      kind: 'input',
      remedy: 'Move the workspace to a folder with a shorter path, or choose another with --workspace.',
    },
  );
}

/** The number of run folders next to a database. */
export function runFolders(workspace: string): number {
  const outputs = join(workspace, 'outputs');
  return existsSync(outputs) ? readdirSync(outputs).filter((name) => /^run-\d{4,}/.test(name)).length : 0;
}

/** Opens and migrates the database at `file`, creating it if there is none. */
export function openDatabase(file: string, options: OpenOptions = {}): Db {
  checkNodeVersion(process.versions.node);
  const migrations = options.migrations ?? allMigrations;
  const { readOnly: readonly = false, busyTimeoutMs: timeout = 5000 } = options;
  return explaining(file, () => {
    checkLength(file);
    checkPlace(file);
    // SQLite's name for a database without a file.
    if (!readonly && file !== ':memory:') makePrivate(file);
    const db = new Database(file, { timeout, readonly, fileMustExist: readonly });
    try {
      checkFile(db, file, migrations);
      if (readonly) refuseOld(db, file, newestOf(migrations));
      else {
        configure(db, timeout);
        migrate(db, file, migrations);
      }
      explainStatements(db, file);
      return db;
    } catch (error) {
      db.close();
      throw readonly ? unreadable(error, file) : error;
    }
  });
}

/** SQLite keeps files of its own beside the database, and makes them even to read: a read-only disk has no place for them. */
function unreadable(error: unknown, file: string): unknown {
  const isRefused = error instanceof Database.SqliteError && /^SQLITE_(CANTOPEN|READONLY)/.test(error.code);
  if (!isRefused || !existsSync(file)) return error;
  return new BraidError('DATABASE_READ_ONLY', `${file} can't be read: SQLite has to write beside it even to read`, {
    cause: error,
    remedy: 'Copy the workspace to where this user may write, and name the copy with --workspace.',
  });
}

/** Cases for which better-sqlite3 and SQLite give less helpful errors. */
function checkPlace(file: string): void {
  const folder = dirname(file);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new BraidError('NO_FOLDER', `Expected a folder at ${folder} for the database, got none`, {
      remedy: 'Create that folder, or choose another workspace with --workspace.',
    });
  }
  const there = statSync(file, { throwIfNoEntry: false });
  if (there?.isDirectory()) {
    throw new BraidError('DATABASE_UNREADABLE', `Expected a database file at ${file}, got a folder`, {
      remedy: 'Move that folder away, or choose another workspace with --workspace.',
    });
  }
  // SQLite takes an empty file for a new database; beside runs it is one that lost everything.
  if (there?.size !== 0 || runFolders(folder) === 0) return;
  throw new BraidError(
    'DATABASE_EMPTY',
    `Expected the history of the runs in ${join(folder, 'outputs')} in ${file}, got an empty file`,
    { remedy: 'Restore it from a backup, or delete the empty file to start a new history; the runs keep their files.' },
  );
}

/** Prompts, texts and completions are nobody else's to read. SQLite gives its -wal and -shm files the same mode. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch {
    // It is there already, or can't be made: then SQLite says why.
  }
}

/** All checks that don't write to the file. */
function checkFile(db: Db, file: string, migrations: readonly Migration[]): void {
  const newest = newestOf(migrations);
  // In one transaction: another process may be making the database.
  const { version, owner, tables } = db.transaction(() => ({
    version: numberPragma(db, 'user_version'),
    owner: numberPragma(db, 'application_id'),
    tables: db.prepare<[], number>('select count(*) from sqlite_schema').pluck().get() ?? 0,
  }))();
  if (owner !== applicationId && (owner !== 0 || version !== 0 || tables !== 0)) {
    throw new BraidError('DATABASE_FOREIGN', `Expected a Braid database in ${file}, got another program's`, {
      remedy: 'Move that file away, or choose another workspace with --workspace.',
    });
  }
  refuseTruncated(db, file);
  // Ours, and yet at no version that we write: its tables would be created a second time.
  if (version < 0 || (version === 0 && tables > 0)) {
    throw new BraidError('DATABASE_UNREADABLE', `Expected ${file} to be at version 1 to ${newest}, got ${version}`, {
      remedy: 'Restore it from a backup, or move it (and its -wal and -shm files) away and start with a new one.',
    });
  }
  if (version <= newest) {
    refuseTriggers(db, file, migrations);
    return;
  }
  throw new BraidError(
    'DATABASE_TOO_NEW',
    `Expected ${file} to be at version ${newest} or older, got version ${version}: it was written by a newer Braid`,
    {
      kind: 'input',
      remedy: `Update Braid, or choose another workspace with --workspace; the file was not touched.${wayBack(file, newest)}`,
    },
  );
}

/** A trigger is code that runs where Braid stores something: one from elsewhere could continue the queue of a foreign workspace. */
function refuseTriggers(db: Db, file: string, migrations: readonly Migration[]): void {
  const ours = migrations.map(({ sql }) => sql).join('\n');
  const all = db
    .prepare<[], { name: string; sql: string }>("select name, sql from sqlite_schema where type = 'trigger'")
    .all();
  // SQLite keeps the statement from the name on as the migration has it.
  const strange = all.find(({ sql }) => !ours.includes(sql.replace(/^CREATE TRIGGER /, '')));
  if (strange === undefined) return;
  throw new BraidError(
    'DATABASE_FOREIGN',
    `Expected only Braid's own triggers in ${file}, got another one, ${JSON.stringify(strange.name.slice(0, 100))}, which could change what is stored and start runs`,
    {
      remedy:
        'Nothing was opened. Use a workspace without it, or drop the trigger with another program if it is yours.',
    },
  );
}

function wayBack(file: string, version: number): string {
  const copy = copyBefore(file, version);
  if (!existsSync(copy)) return '';
  return ` Or go back to how it was before that: move it (and its -wal and -shm files) away, and rename ${copy} to ${basename(file)}.`;
}

/** Only a connection that writes can bring a database to the newest version. */
function refuseOld(db: Db, file: string, newest: number): void {
  const version = numberPragma(db, 'user_version');
  if (version === newest) return;
  throw new BraidError('DATABASE_TOO_OLD', `Expected ${file} to be at version ${newest}, got version ${version}`, {
    kind: 'input',
    remedy:
      'Open the workspace once with this Braid (npm start, or braid serve): that updates the database. If it is on a read-only disk, copy it first, and name the copy with --workspace.',
  });
}

/** SQLite notices truncation only when it reads the missing part, which may be in the middle of a run. */
function refuseTruncated(db: Db, file: string): void {
  if (!existsSync(file)) return;
  const expected = numberPragma(db, 'page_count') * numberPragma(db, 'page_size');
  // Asked after the count, which includes what lies in it: another process may be making the database.
  if (existsSync(`${file}-wal`)) return;
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

function configure(db: Db, patienceMs: number): void {
  switchToWal(db, performance.now() + patienceMs);
  db.pragma('synchronous = normal');
  db.pragma('foreign_keys = on');
}

/** SQLite itself waits for no other process that is using a new database when the journal changes. */
function switchToWal(db: Db, until: number): void {
  for (;;) {
    try {
      db.pragma('journal_mode = wal');
      return;
    } catch (error) {
      const isBusy = error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!isBusy || performance.now() > until) throw error;
      pause(20);
    }
  }
}

/** All that are missing are one transaction: a failure leaves the version before it, which the Braid before it opens. */
function migrate(db: Db, file: string, migrations: readonly Migration[]): void {
  if (numberPragma(db, 'user_version') >= newestOf(migrations)) return;
  db.transaction(() => {
    // Another process may have done it meanwhile.
    const before = numberPragma(db, 'user_version');
    const missing = migrations.filter(({ version }) => version > before);
    if (missing.length > 0 && before > 0) keepCopyBefore(file, before);
    for (const migration of missing) {
      explainingUpdate(file, before, () => db.exec(migration.sql));
      db.pragma(`application_id = ${applicationId}`);
      db.pragma(`user_version = ${migration.version}`);
    }
  }).immediate();
}

/** A database that isn't what its version says, as only a Braid from between two versions writes one. */
function explainingUpdate(file: string, version: number, work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Database.SqliteError) || databaseError(error, file) !== error) throw error;
    throw new BraidError(
      'DATABASE_UNREADABLE',
      `Expected ${file} to be what version ${version} of it has, but it can't be updated from that: ${error.message}`,
      {
        cause: error,
        remedy:
          'Nothing was changed: the Braid that wrote it still opens it. Restore a backup, or choose another workspace with --workspace.',
      },
    );
  }
}

function newestOf(migrations: readonly Migration[]): number {
  return Math.max(0, ...migrations.map((migration) => migration.version));
}

function numberPragma(db: Db, name: string): number {
  return Number(db.pragma(name, { simple: true }));
}

/** Turns what SQLite throws into errors that say which file, what happened, and what to do. */
import Database from 'better-sqlite3';
import { BraidError } from '../errors.ts';
import { lockHolder } from './lock-holder.ts';

interface Explanation {
  readonly code: string;
  readonly what: string;
  readonly remedy: string;
}

const explanations: readonly (readonly [prefix: string, Explanation])[] = [
  [
    'SQLITE_FULL',
    {
      code: 'DISK_FULL',
      what: 'the disk is full',
      remedy: 'Free some space on that disk and try again; everything stored before is intact.',
    },
  ],
  [
    'SQLITE_NOTADB',
    {
      code: 'DATABASE_UNREADABLE',
      what: 'it is not an SQLite database',
      remedy: 'Move that file away, or choose another workspace with --workspace.',
    },
  ],
  [
    'SQLITE_CORRUPT',
    {
      code: 'DATABASE_UNREADABLE',
      what: 'the file is damaged or truncated',
      remedy: 'Restore it from a backup, or move it (and its -wal and -shm files) away and start with a new one.',
    },
  ],
  [
    'SQLITE_READONLY',
    {
      code: 'DATABASE_READ_ONLY',
      what: 'the file or its folder is read-only',
      remedy: 'Give this user write permission there, or choose another workspace with --workspace.',
    },
  ],
  [
    'SQLITE_CANTOPEN',
    {
      code: 'DATABASE_READ_ONLY',
      what: 'the file cannot be opened or created',
      remedy: 'Check that its folder exists and that this user may write there, or choose another with --workspace.',
    },
  ],
  [
    'SQLITE_PERM',
    {
      code: 'DATABASE_READ_ONLY',
      what: 'access was denied',
      remedy: 'Give this user write permission there, or choose another workspace with --workspace.',
    },
  ],
  [
    'SQLITE_BUSY',
    {
      code: 'DATABASE_LOCKED',
      what: 'another process is using it',
      remedy: 'Nothing was changed. Try again; if it stays so, close the other program that uses this workspace.',
    },
  ],
  [
    'SQLITE_LOCKED',
    {
      code: 'DATABASE_LOCKED',
      what: 'another process is using it',
      remedy: 'Nothing was changed. Try again; if it stays so, close the other program that uses this workspace.',
    },
  ],
  [
    'SQLITE_IOERR',
    {
      code: 'DATABASE_IO',
      what: 'reading or writing the disk failed',
      remedy: 'Check the disk and its free space, then try again.',
    },
  ],
];

/** A missing table or column shows up only when a statement asks for it. */
const MISSING = /^no such (table|column|index)|has no column named/;

const incomplete: Explanation = {
  code: 'DATABASE_UNREADABLE',
  what: 'a part of it is missing',
  remedy: 'Restore it from a backup, or move it (and its -wal and -shm files) away and start with a new one.',
};

function explanationOf({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): Explanation | undefined {
  if (code === 'SQLITE_ERROR' && MISSING.test(message))
    return { ...incomplete, what: `${incomplete.what} (${message})` };
  return explanations.find(([prefix]) => code.startsWith(prefix))?.[1];
}

/** A `BraidError` for what SQLite (or Node) threw about `file`; other errors are returned unchanged. */
export function databaseError(error: unknown, file: string): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const found = explanationOf(error);
  if (found === undefined) return error;
  const holder = found.code === 'DATABASE_LOCKED' ? lockHolder(file) : null;
  const what = holder === null ? found.what : `${holder} has locked it`;
  return new BraidError(found.code, `Expected to use the database ${file}, but ${what} (${error.code})`, {
    cause: error,
    remedy: found.remedy,
  });
}

/** Runs `work`, turning SQLite's errors about `file` into readable ones. */
export function explaining<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw databaseError(error, file);
  }
}

/** Whether another process keeps the database locked: what was asked may succeed in a moment. */
export function isLocked(error: unknown): boolean {
  return error instanceof BraidError && error.code === 'DATABASE_LOCKED';
}

/** Whether the disk has no room for what was to be stored. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof BraidError && error.code === 'DISK_FULL';
}

const CALLS = ['run', 'get', 'all'] as const;

/** Makes the errors of every statement that is prepared from now on readable. */
export function explainStatements(db: Database.Database, file: string): void {
  const prepare = db.prepare.bind(db);
  const prepared = (sql: string): Database.Statement => {
    const statement = prepare(sql);
    for (const call of CALLS) {
      const original = statement[call].bind(statement);
      Object.defineProperty(statement, call, {
        value: (...given: unknown[]) => explaining(file, () => original(...given)),
      });
    }
    return statement;
  };
  Object.defineProperty(db, 'prepare', { value: prepared });
}

import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { toFailure } from '../../main/api/failures.ts';
import { BraidError, inputError } from '../../main/errors.ts';
import { databaseError } from '../../main/store/errors.ts';

describe('toFailure', () => {
  it('keeps code, kind and remedy of errors that the user can fix', () => {
    expect(toFailure(inputError('RUN_BUSY', 'Expected room', 'Queue it.'))).toMatchObject({
      code: 'REFUSED',
      status: 422,
      message: 'Expected room',
      data: { code: 'RUN_BUSY', remedy: 'Queue it.' },
    });
    expect(toFailure(new BraidError('TRAINER_DIED', 'It ended'))).toMatchObject({
      code: 'FAILED',
      status: 500,
      data: { code: 'TRAINER_DIED', remedy: null },
    });
  });

  it('says what happened and what is safe for a full disk and a locked database', () => {
    const thrown = (code: string) => databaseError(new Database.SqliteError('no', code), 'braid.db');
    expect(toFailure(thrown('SQLITE_FULL'))).toMatchObject({
      message: expect.stringContaining('the disk is full'),
      data: { code: 'DISK_FULL', remedy: expect.stringContaining('everything stored before is intact') },
    });
    expect(toFailure(new Database.SqliteError('database or disk is full', 'SQLITE_FULL'))).toMatchObject({
      message: 'Expected to use the database of this workspace, but the disk is full (SQLITE_FULL)',
    });
    expect(toFailure(thrown('SQLITE_BUSY'))).toMatchObject({ data: { code: 'DATABASE_LOCKED' } });
  });

  it('reports a bug to the page without its stack', () => {
    const failure = toFailure(new TypeError('x is not a function'));
    expect(failure).toMatchObject({ code: 'FAILED', data: { code: 'UNEXPECTED' } });
    expect(JSON.stringify(failure.toJSON())).not.toContain('.ts:');
  });
});

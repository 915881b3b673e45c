import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { copyError } from '../../main/store/copy-before.ts';
import { databaseError } from '../../main/store/errors.ts';
import { openStore } from '../../main/store/index.ts';
import { migrations } from '../../main/store/migrations/index.ts';
import { checkNodeVersion, openDatabase } from '../../main/store/open.ts';
import { processesAtOnce, sourceUrl } from '../processes-at-once.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { addRun, errorOf, temporaryStore } from './helpers.ts';

function fileIn(folder = temporaryFolder()): string {
  return join(folder, 'braid.db');
}

/** Of the database; numbers of migrations may have gaps. */
const newest = Math.max(...migrations.map(({ version }) => version));

describe('openDatabase', () => {
  it('creates a database in WAL mode with foreign keys and the newest version', () => {
    const db = openDatabase(fileIn());
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(db.pragma('synchronous', { simple: true })).toBe(1);
    expect(db.pragma('foreign_keys', { simple: true })).toBe(1);
    expect(db.pragma('user_version', { simple: true })).toBe(newest);
    db.close();
  });

  it('finds what an earlier opening stored', () => {
    const file = fileIn();
    const first = openStore(file);
    first.settings.set('theme', 'dark');
    first.close();
    const second = openStore(file);
    expect(second.settings.get('theme')).toBe('dark');
    second.close();
  });

  it('is opened by several processes that all find none', { timeout: 30_000 }, async () => {
    // Each opens a new one with the others whenever a tenth of a second begins.
    const program = `
      import { mkdirSync } from 'node:fs';
      import { openDatabase } from ${JSON.stringify(sourceUrl('main/store/open.ts'))};
      process.chdir(${JSON.stringify(temporaryFolder())});
      for (const end = Date.now() + 2000; Date.now() < end; ) {
        const next = Math.floor(Date.now() / 100) + 1;
        while (Date.now() < next * 100);
        mkdirSync(String(next), { recursive: true });
        openDatabase(next + '/braid.db').close();
      }
      console.log('opened all');`;
    expect(await processesAtOnce(4, program)).toEqual(Array(4).fill('opened all\n'));
  });

  it('applies only the migrations that are missing', () => {
    const file = fileIn();
    const one = { version: 1, sql: 'create table a (x integer) strict' };
    const two = { version: 2, sql: 'alter table a add column y integer' };
    openDatabase(file, { migrations: [one] }).close();
    const db = openDatabase(file, { migrations: [one, two] });
    expect(db.pragma('user_version', { simple: true })).toBe(2);
    db.close();
  });

  it('keeps the runs, texts and datasets of version 5, whose roles, sides and leakage were derived', () => {
    const file = fileIn();
    const old = openDatabase(file, { migrations: migrations.slice(0, 5) });
    old.exec(`
      insert into run (name, state, method, task, dataset, model, config_json, folder, max_steps, created_at)
      values ('baseline/seed_42', 'done', 'sft', 'reply', 'd', 'm', '{}', 'outputs/run-0001', 10, 1);
      insert into text (title, text, source, words, hash, added_at) values ('t', 'one two', 's', 2, 'h', 1);
      insert into dataset (name, file, task, words, train_n, test_n, seed, made_at)
      values ('10words', 'd', 'interleave', 10, 8, 4, 42, 1);`);
    old.close();
    const store = openStore(file);
    expect(store.runs.list()).toMatchObject([{ name: 'baseline/seed_42', role: 'baseline/seed_42' }]);
    expect(store.runs.get(1)).toMatchObject({ task: 'reply', taskHash: null, taskShow: 'beside' });
    store.runs.rename(1, 'mine');
    expect(store.runs.get(1)).toMatchObject({ name: 'mine', role: 'baseline/seed_42' });
    expect(store.datasets.list()).toMatchObject([{ name: '10words', leakage: null }]);
    store.datasets.setLeakage(1, { titles: 0, pairs: 3 });
    expect(store.datasets.get(1)?.leakage).toEqual({ titles: 0, pairs: 3 });
    expect(store.texts.get(1)?.side).toBeNull();
    store.texts.decide(1, 'test');
    store.texts.decide(1, 'train');
    expect(store.texts.list()).toMatchObject([{ title: 't', side: 'test' }]);
    store.close();
  });

  it('opens for reading what is there and of this version, and nothing else', () => {
    const file = fileIn();
    expect(errorOf(() => openDatabase(file, { readOnly: true }))).toMatchObject({ code: 'DATABASE_READ_ONLY' });
    const one = { version: 1, sql: 'create table a (x integer) strict' };
    const two = { version: 2, sql: 'alter table a add column y integer' };
    openDatabase(file, { migrations: [one] }).close();
    expect(errorOf(() => openDatabase(file, { migrations: [one, two], readOnly: true }))).toMatchObject({
      code: 'DATABASE_TOO_OLD',
      kind: 'input',
      remedy: expect.stringContaining('braid serve'),
    });
    const db = openDatabase(file, { migrations: [one], readOnly: true });
    expect(() => db.exec('insert into a values (1)')).toThrow(/readonly/);
    db.close();
  });

  it('says that reading needs a place to write', () => {
    const file = fileIn();
    openDatabase(file).close();
    // SQLite can't make its own file there, as on a read-only disk.
    mkdirSync(`${file}-wal`);
    expect(errorOf(() => openDatabase(file, { readOnly: true }))).toMatchObject({
      code: 'DATABASE_READ_ONLY',
      remedy: expect.stringContaining('Copy the workspace'),
    });
  });

  it('leaves the version before all migrations where one fails', () => {
    const file = fileIn();
    const [one, two] = ['a', 'b'].map((name, i) => ({
      version: i + 1,
      sql: `create table ${name} (x integer) strict`,
    }));
    if (one === undefined || two === undefined) throw new Error('Expected two migrations');
    const bad = { version: 3, sql: 'create table c (x integer) strict; create table a (x integer) strict' };
    openDatabase(file, { migrations: [one] }).close();
    expect(errorOf(() => openDatabase(file, { migrations: [one, two, bad] }))).toMatchObject({
      message: expect.stringContaining('table a already exists'),
      remedy: expect.stringContaining('Nothing was changed'),
    });
    const db = openDatabase(file, { migrations: [one] });
    expect(db.prepare("select count(*) from sqlite_schema where name in ('b', 'c')").pluck().get()).toBe(0);
    db.close();
  });

  it('keeps the database as it was before an update, and says how to go back to it', () => {
    const file = fileIn();
    const before = migrations.slice(0, -1);
    const version = Math.max(...before.map((migration) => migration.version));
    const old = openDatabase(file, { migrations: before });
    old.exec(`insert into setting (key, value) values ('theme', '"dark"')`);
    // What a process that was killed left.
    writeFileSync(`${file}.v${version}.part`, 'half');
    openDatabase(file).close();
    old.close();

    const remedy = expect.stringContaining(`rename ${file}.v${version} to braid.db`);
    expect(errorOf(() => openDatabase(file, { migrations: before }))).toMatchObject({ remedy });
    if (process.platform !== 'win32') expect(statSync(`${file}.v${version}`).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(file)).filter((name) => name.endsWith('.part'))).toEqual([]);
    rmSync(file);
    renameSync(`${file}.v${version}`, file);
    const back = openStore(file);
    expect(back.settings.get('theme')).toBe('dark');
    back.close();
  });

  it('says so where the copy before an update has no place', () => {
    const file = fileIn();
    openDatabase(file).close();
    const without = (code: string) =>
      copyError(Object.assign(new Error(code), { code, syscall: 'open' }), file, `${file}.v1.part`);
    expect(without('EROFS')).toMatchObject({
      code: 'DATABASE_READ_ONLY',
      remedy: expect.stringContaining('--workspace'),
    });
    expect(without('ENOSPC')).toMatchObject({ code: 'DISK_FULL', remedy: expect.stringContaining('about 2 MiB') });
  });

  it('makes no file for a database in memory', () => {
    openDatabase(':memory:').close();
    expect(existsSync(':memory:')).toBe(false);
  });

  it('rejects a newer version, naming both, and leaves the file alone', () => {
    const file = fileIn();
    openDatabase(file).close();
    const raw = new Database(file);
    raw.pragma('user_version = 99');
    raw.close();
    const before = readFileSync(file);
    expect(errorOf(() => openDatabase(file))).toMatchObject({
      code: 'DATABASE_TOO_NEW',
      message: expect.stringMatching(new RegExp(`version ${newest} or older, got version 99`)),
      remedy: expect.stringContaining('Update Braid'),
    });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('rejects a file that is not a database', () => {
    const file = fileIn();
    writeFileSync(file, 'these are notes of mine, and no database at all; '.repeat(50));
    expect(errorOf(() => openDatabase(file))).toMatchObject({
      code: 'DATABASE_UNREADABLE',
      message: expect.stringContaining(file),
    });
  });

  it("rejects another program's database", () => {
    const file = fileIn();
    const raw = new Database(file);
    raw.exec('create table songs (title text)');
    raw.close();
    expect(errorOf(() => openDatabase(file))).toMatchObject({ code: 'DATABASE_FOREIGN' });
  });

  it.each([-1, 0])('rejects one of ours at version %i, and leaves the file alone', (version) => {
    const file = fileIn();
    openDatabase(file).close();
    const raw = new Database(file);
    raw.pragma(`user_version = ${version}`);
    raw.close();
    const before = readFileSync(file);
    expect(errorOf(() => openDatabase(file))).toMatchObject({
      code: 'DATABASE_UNREADABLE',
      message: expect.stringContaining(`got ${version}`),
    });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it('names what is missing where a table was dropped, and closes the file', () => {
    const file = fileIn();
    openDatabase(file).close();
    const raw = new Database(file);
    raw.exec('drop table sample');
    raw.close();
    expect(errorOf(() => openStore(file))).toMatchObject({
      code: 'DATABASE_UNREADABLE',
      message: expect.stringContaining('no such table'),
      remedy: expect.stringContaining('backup'),
    });
  });

  it('rejects a database with triggers that others have added, and takes its own of every version', () => {
    for (const body of ['after insert on setting begin select 1; end', 'after insert on sample begin select 1; end']) {
      const file = fileIn();
      openDatabase(file).close();
      const raw = new Database(file);
      raw.exec(`drop trigger if exists sample_search_insert; create trigger sample_search_insert ${body}`);
      raw.close();
      for (const readOnly of [false, true])
        expect(errorOf(() => openDatabase(file, { readOnly }))).toMatchObject({
          code: 'DATABASE_FOREIGN',
          message: expect.stringContaining('sample_search_insert'),
          remedy: expect.stringContaining('drop the trigger'),
        });
    }
    const old = fileIn();
    openDatabase(old, { migrations: migrations.filter(({ version }) => version <= 4) }).close();
    openDatabase(old).close();
    openDatabase(old, { readOnly: true }).close();
  });

  it('rejects an empty file beside runs, and takes one in a workspace without any', () => {
    const file = fileIn();
    writeFileSync(file, '');
    openDatabase(file).close();
    const beside = fileIn();
    mkdirSync(join(dirname(beside), 'outputs', 'run-0001-10words-grpo'), { recursive: true });
    writeFileSync(beside, '');
    expect(errorOf(() => openDatabase(beside))).toMatchObject({
      code: 'DATABASE_EMPTY',
      message: expect.stringContaining('outputs'),
      remedy: expect.stringContaining('backup'),
    });
    expect(statSync(beside).size).toBe(0);
  });

  it('rejects a truncated database', () => {
    const file = fileIn();
    openDatabase(file).close();
    truncateSync(file, 8192);
    expect(errorOf(() => openDatabase(file))).toMatchObject({
      code: 'DATABASE_UNREADABLE',
      message: expect.stringMatching(/truncated/),
    });
  });

  it('rejects a folder instead of the file', () => {
    const file = fileIn();
    mkdirSync(file);
    expect(errorOf(() => openDatabase(file))).toMatchObject({ message: expect.stringContaining('got a folder') });
  });

  it.skipIf(process.platform === 'win32')('says that a path is too long for SQLite', () => {
    const folder = join(temporaryFolder(), 'é'.repeat(120), 'b'.repeat(240));
    mkdirSync(folder, { recursive: true });
    expect(errorOf(() => openDatabase(join(folder, 'braid.db')))).toMatchObject({
      code: 'PATH_TOO_LONG',
      kind: 'input',
      message: expect.stringMatching(/ has 5\d\d bytes/),
    });
  });

  it('says so when there is no folder to hold the file', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'plain'), '');
    for (const name of ['plain', 'none']) {
      expect(errorOf(() => openDatabase(join(folder, name, 'braid.db')))).toMatchObject({
        code: 'NO_FOLDER',
        message: expect.stringContaining(join(folder, name)),
      });
    }
  });

  it('says so when another process holds the database', () => {
    const file = fileIn();
    const one = { version: 1, sql: 'create table a (x integer) strict' };
    const holder = openDatabase(file, { migrations: [one] });
    holder.exec('begin immediate');
    const two = { version: 2, sql: 'create table b (x integer) strict' };
    expect(errorOf(() => openDatabase(file, { migrations: [one, two], busyTimeoutMs: 10 }))).toMatchObject({
      code: 'DATABASE_LOCKED',
    });
    holder.close();
  });
});

describe('checkNodeVersion', () => {
  it('rejects versions that better-sqlite3 cannot run on', () => {
    expect(errorOf(() => checkNodeVersion('20.20.2'))).toMatchObject({ code: 'NODE_TOO_OLD' });
    expect(() => checkNodeVersion('24.21.0')).not.toThrow();
  });
});

describe('databaseError', () => {
  it.each([
    ['SQLITE_FULL', 'DISK_FULL'],
    ['SQLITE_READONLY_DIRECTORY', 'DATABASE_READ_ONLY'],
    ['SQLITE_CANTOPEN', 'DATABASE_READ_ONLY'],
    ['SQLITE_PERM', 'DATABASE_READ_ONLY'],
    ['SQLITE_CORRUPT_INDEX', 'DATABASE_UNREADABLE'],
    ['SQLITE_LOCKED', 'DATABASE_LOCKED'],
    ['SQLITE_IOERR_WRITE', 'DATABASE_IO'],
  ])('explains %s as %s with the file and a remedy', (sqlite, code) => {
    const error = databaseError(new Database.SqliteError('x', sqlite), '/data/braid.db');
    expect(error).toMatchObject({
      code,
      message: expect.stringContaining('/data/braid.db'),
      remedy: expect.stringMatching(/./),
    });
  });

  it('leaves other errors as they are', () => {
    const error = new Error('mine');
    expect(databaseError(error, 'f')).toBe(error);
    const constraint = new Database.SqliteError('x', 'SQLITE_CONSTRAINT');
    expect(databaseError(constraint, 'f')).toBe(constraint);
  });
});

describe('Store.transaction', () => {
  it('keeps all or nothing', () => {
    const store = temporaryStore();
    expect(() =>
      store.transaction(() => {
        store.settings.set('a', 1);
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(store.settings.get('a')).toBeUndefined();
  });

  it('stores a metric whose name first came in a transaction that failed', () => {
    const store = temporaryStore();
    const run = addRun(store);
    expect(() =>
      store.transaction(() => {
        store.metrics.record(run, 1, { fresh: 1 });
        throw new Error('no');
      }),
    ).toThrow('no');
    store.metrics.record(run, 1, { fresh: 2 });
    expect(store.metrics.series(run, 'fresh')).toEqual([{ step: 1, value: 2 }]);
  });

  it('reports a full disk and loses nothing that was stored', () => {
    const folder = temporaryFolder();
    const limit = { version: newest + 1, sql: 'pragma max_page_count = 80' };
    const store = openStore(join(folder, 'braid.db'), { migrations: [...migrations, limit] });
    store.settings.set('kept', true);
    const error = errorOf(() => store.transaction(() => store.settings.set('big', 'x'.repeat(1_000_000))));
    expect(error).toMatchObject({ code: 'DISK_FULL', message: expect.stringContaining('braid.db') });
    expect(store.settings.list()).toMatchObject({ kept: true });
    store.close();
  });
});

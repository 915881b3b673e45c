import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { runDetail, runHistory } from '../../../main/services/runs/history.ts';
import { savedConfig, savedFields } from '../../../main/services/runs/saved-config.ts';
import { readSettings } from '../../../main/services/workspace/settings.ts';
import { braid } from '../../commands/braid.ts';
import { addRun, errorOf, temporaryStore } from '../../store/helpers.ts';

/** A store whose database another hand has changed. */
function damagedBy(sql: string) {
  const store = temporaryStore();
  const [whole, damaged] = [addRun(store), addRun(store)];
  store.settings.set('preferences', { theme: 'dark' });
  const raw = new Database(store.file);
  raw.pragma('foreign_keys = off');
  raw.exec(sql);
  raw.close();
  return { store, whole, damaged };
}

describe('savedFields', () => {
  it('has the name of today for a field that an older version called otherwise', () => {
    const store = temporaryStore();
    const id = addRun(store, { configJson: JSON.stringify({ vllm_importance_sampling_cap: 2 }) });
    const row = store.runs.get(id);
    if (row === undefined) throw new Error('Expected a run');
    expect(savedFields(row)).toEqual({ vllm_importance_sampling_clip_max: 2 });
  });

  it.each(['{"model": "ti', 'null', '[]', '7', ''])('says whose configuration is %j', (text) => {
    const { store, whole, damaged } = damagedBy(`update run set config_json = '${text}' where id = 2`);
    const row = store.runs.get(damaged);
    if (row === undefined) throw new Error('Expected a run');
    const expected = {
      code: 'DATABASE_DAMAGED',
      message: expect.stringContaining('the configuration of run 2'),
      remedy: expect.stringContaining('backup'),
    };
    for (const read of [() => savedFields(row), () => savedConfig(row), () => runDetail(store, damaged)])
      expect(errorOf(read)).toMatchObject(expected);
    // The others, and the list, are not its hostages.
    expect(runDetail(store, whole).config).toEqual({ eval_dataset: 'held-out.jsonl' });
    expect(runHistory(store)).toHaveLength(2);
  });
});

describe('a damaged setting', () => {
  it('counts as not set', () => {
    const { store } = damagedBy(`update setting set value = '{"theme":' where key = 'preferences'`);
    expect(readSettings(store).theme).toBe('system');
    expect(store.settings.list()).toMatchObject({ preferences: undefined });
  });
});

describe('braid on a damaged database', () => {
  it('says in words what is wrong, with 1', async () => {
    const { store } = damagedBy(`update run set config_json = '{' where id = 2; drop table metric_block;`);
    store.close();
    const listed = await braid(['config', '--run', '2', '--workspace', store.folder]);
    expect(listed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^braid: Expected to use the database .*no such table/),
    });
    expect(listed.stderr).not.toContain('    at ');
    const other = damagedBy(`update run set config_json = '{' where id = 2`);
    other.store.close();
    const config = await braid(['config', '--run', '2', '--workspace', other.store.folder]);
    expect(config).toMatchObject({ code: 1, stderr: expect.stringContaining('the configuration of run 2') });
  });

  it('names the database where a page of it is damaged in the middle of a command', async () => {
    const { store } = damagedBy('select 1');
    for (let i = 0; i < 200; i++) addRun(store, { configJson: JSON.stringify({ model: 'x'.repeat(900), i }) });
    const file = join(store.folder, 'braid.db');
    const raw = new Database(file);
    raw.pragma('wal_checkpoint(truncate)');
    const [page] = raw.prepare<[], number>("select rootpage from sqlite_schema where name = 'run'").pluck().all();
    const size = Number(raw.pragma('page_size', { simple: true }));
    raw.close();
    store.close();
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.alloc(size, 0xa5), 0, size, ((page ?? 1) - 1) * size);
    closeSync(handle);
    const config = await braid(['config', '--run', '2', '--workspace', store.folder]);
    expect(config).toMatchObject({ code: 1, stderr: expect.stringContaining('damaged or truncated') });
    expect(config.stderr).not.toContain('    at ');
  });
});

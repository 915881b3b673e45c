import * as fs from 'node:fs';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openForReading } from '../../../main/services/workspace/read-only.ts';
import {
  fromStoredPath,
  locateWorkspace,
  makeWorkspace,
  openWorkspace,
  runFolderName,
  toStoredPath,
} from '../../../main/services/workspace/workspace.ts';
import { openStore } from '../../../main/store/index.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

describe('locateWorkspace', () => {
  it('takes --workspace, else BRAID_WORKSPACE, else the data folder', () => {
    const env = { BRAID_WORKSPACE: '/from-env' };
    expect(locateWorkspace({ workspace: 'mine', env }).root).toBe(resolve('mine'));
    expect(locateWorkspace({ env }).root).toBe(resolve('/from-env'));
    expect(locateWorkspace({ env: {} }).root).toMatch(/braid/i);
    expect(locateWorkspace({ env: { BRAID_WORKSPACE: ' ' } }).root).toBe(locateWorkspace({ env: {} }).root);
  });

  it('rejects an empty name', () => {
    expect(errorOf(() => locateWorkspace({ workspace: '' }))).toMatchObject({ code: 'BAD_WORKSPACE', kind: 'input' });
  });
});

describe('makeWorkspace', () => {
  it('gives a new workspace an empty history, and none to one whose history was lost', () => {
    const { root, database, outputs } = makeWorkspace({ workspace: join(temporaryFolder(), 'new') });
    const store = openForReading(locateWorkspace({ workspace: root }));
    expect(store.queue.list()).toEqual([]);
    store.close();
    rmSync(database);
    mkdirSync(join(outputs, 'run-0001-a'));
    makeWorkspace({ workspace: root });
    expect(existsSync(database)).toBe(false);
  });
});

describe('openWorkspace', () => {
  it('makes the folders and leaves nothing else', () => {
    const root = join(temporaryFolder(), 'deep', 'workspace');
    const workspace = openWorkspace({ workspace: root });
    expect(readdirSync(root).sort()).toEqual(['datasets', 'models', 'outputs']);
    expect(workspace.database).toBe(join(root, 'braid.db'));
    expect(() => openWorkspace({ workspace: root })).not.toThrow();
  });

  it.skipIf(process.platform === 'win32')('is private, with its database and the files of SQLite next to it', () => {
    const before = process.umask(0o022);
    onTestFinished(() => void process.umask(before));
    const workspace = openWorkspace({ workspace: join(temporaryFolder(), 'workspace') });
    const store = openStore(workspace.database);
    onTestFinished(() => store.close());
    store.settings.set('a', 1);
    const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
    const { root, datasets, models, outputs, database } = workspace;
    expect([root, datasets, models, outputs].map(modeOf)).toEqual(['700', '700', '700', '700']);
    expect([database, `${database}-wal`, `${database}-shm`].map(modeOf)).toEqual(['600', '600', '600']);
  });

  it('rejects a file in its place, or on the way', () => {
    const file = join(temporaryFolder(), 'plain');
    writeFileSync(file, '');
    expect(errorOf(() => openWorkspace({ workspace: file }))).toMatchObject({
      code: 'BAD_WORKSPACE',
      message: expect.stringContaining(file),
    });
    const inside = { code: 'NO_FOLDER', kind: 'input' };
    expect(errorOf(() => openWorkspace({ workspace: join(file, 'inner') }))).toMatchObject(inside);
  });

  it.runIf(process.platform === 'linux')('ends where the system makes no folders', () => {
    const refused = { code: 'NO_PERMISSION', kind: 'input', message: expect.stringContaining('/proc/x') };
    expect(errorOf(() => openWorkspace({ workspace: '/proc/x/y' }))).toMatchObject(refused);
  });

  it.each([
    ['EACCES', 'NO_PERMISSION'],
    ['EROFS', 'READ_ONLY'],
    ['ENOSPC', 'DISK_FULL'],
  ])('says so when it cannot be written (%s)', (system, code) => {
    const openSync = () => {
      throw Object.assign(new Error(system), { code: system, syscall: 'open' });
    };
    const root = temporaryFolder();
    expect(errorOf(() => openWorkspace({ workspace: root, ops: { ...fs, openSync } }))).toMatchObject({
      code,
      message: expect.stringContaining(root),
      remedy: expect.stringContaining('workspace'),
    });
    expect(existsSync(join(root, 'braid.db'))).toBe(false);
  });
});

describe('runFolderName', () => {
  it.each([
    [7, 'datasets/10words.jsonl', 'grpo', 'run-0007-10words-grpo'],
    [12345, 'C:\\data\\My set (2).test.jsonl', 'sft', 'run-12345-My-set-2-sft'],
    [1, '../../..', 'grpo', 'run-0001-grpo'],
    [2, 'हिन्दी.jsonl', 'grpo', 'run-0002-हिन्दी-grpo'],
  ])('names run %i of %s', (id, dataset, method, name) => {
    expect(runFolderName(id, dataset, method)).toBe(name);
  });
});

describe('toStoredPath', () => {
  it('is relative inside the workspace and absolute outside, and comes back', () => {
    const root = resolve('/w');
    expect(toStoredPath(root, join(root, 'outputs', 'a'))).toBe('outputs/a');
    expect(toStoredPath(root, 'outputs/a')).toBe('outputs/a');
    expect(toStoredPath(root, join(root, '..x'))).toBe('..x');
    expect(toStoredPath(root, '/elsewhere/a')).toBe(resolve('/elsewhere/a'));
    expect(fromStoredPath(root, 'outputs/a')).toBe(join(root, 'outputs', 'a'));
    expect(fromStoredPath(root, '/elsewhere/a')).toBe(resolve('/elsewhere/a'));
  });
});

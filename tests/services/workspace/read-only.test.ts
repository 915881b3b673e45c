import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openForReading, openUpToDate } from '../../../main/services/workspace/read-only.ts';
import { locateWorkspace } from '../../../main/services/workspace/workspace.ts';
import { addRun, errorOf, temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

describe('openForReading', () => {
  it('names a folder without a workspace, and creates nothing', () => {
    const root = join(temporaryFolder(), 'nowhere');
    expect(errorOf(() => openForReading(locateWorkspace({ workspace: root })))).toMatchObject({
      ...{ code: 'NO_WORKSPACE', kind: 'input', message: `There is no folder ${root}` },
      remedy: expect.stringContaining('--workspace'),
    });
    expect(existsSync(root)).toBe(false);
    mkdirSync(root);
    expect(errorOf(() => openForReading(locateWorkspace({ workspace: root })))).toMatchObject({
      message: `There is no Braid workspace in ${root}`,
    });
    expect(readdirSync(root)).toEqual([]);
  });

  it('reads, and refuses to write', () => {
    const root = temporaryFolder();
    temporaryStore(root).settings.set('theme', 'dark');
    const store = openForReading(locateWorkspace({ workspace: root }));
    expect(store.settings.get('theme')).toBe('dark');
    expect(errorOf(() => store.transaction(() => store.settings.set('theme', 'light')))).toMatchObject({
      code: 'DATABASE_READ_ONLY',
    });
    store.close();
  });
});

describe('openUpToDate', () => {
  it('follows a workspace that was moved, and creates none', () => {
    const [before, root] = [temporaryFolder(), temporaryFolder()];
    const old = temporaryStore(before);
    const runId = addRun(old, { dataset: join(before, 'datasets/five.jsonl') });
    old.close();
    cpSync(join(before, 'braid.db'), join(root, 'braid.db'));
    rmSync(before, { recursive: true });
    const store = openUpToDate(locateWorkspace({ workspace: root }));
    expect(store.runs.get(runId)?.dataset).toBe(join(root, 'datasets/five.jsonl'));
    store.close();
    const empty = temporaryFolder();
    expect(errorOf(() => openUpToDate(locateWorkspace({ workspace: empty })))).toMatchObject({ code: 'NO_WORKSPACE' });
    expect(readdirSync(empty)).toEqual([]);
  });

  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('reads what this user may not write', () => {
    const root = temporaryFolder();
    const { settings } = temporaryStore(root);
    settings.set('theme', 'dark');
    // It would be brought up to date.
    settings.set('folder', '/elsewhere');
    chmodSync(join(root, 'braid.db'), 0o444);
    const store = openUpToDate(locateWorkspace({ workspace: root }));
    expect(store.settings.get('theme')).toBe('dark');
    store.close();
  });
});

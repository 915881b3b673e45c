import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openForReading } from '../../../main/services/workspace/read-only.ts';
import { locateWorkspace } from '../../../main/services/workspace/workspace.ts';
import { errorOf, temporaryStore } from '../../store/helpers.ts';
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

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readLaunch } from '../../main/desktop/launch.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('readLaunch', () => {
  it('reads the workspace and existing files as absolute paths, ignoring other arguments', () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'a.txt'), 'text');
    mkdirSync(join(cwd, 'folder'));
    const given = ['--no-first-run', 'a.txt', '--workspace', 'mine', 'none.txt', 'folder', '4127'];
    expect(readLaunch(given, cwd)).toEqual({ workspace: join(cwd, 'mine'), files: [join(cwd, 'a.txt')] });
    expect(readLaunch(['--workspace=/else/where'], cwd)).toEqual({ workspace: resolve('/else/where'), files: [] });
    expect(readLaunch([], cwd)).toEqual({ workspace: undefined, files: [] });
  });

  it('passes on a workspace without a name, which is then rejected', () => {
    expect(readLaunch(['--workspace'], '/').workspace).toBe('');
    expect(readLaunch(['--workspace='], '/').workspace).toBe('');
  });
});

import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openPathAccess } from '../../main/api/path-access.ts';
import { errorOf } from '../store/helpers.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function folders() {
  const root = temporaryFolder();
  for (const name of ['workspace', 'workspace-2', 'models']) mkdirSync(join(root, name));
  writeFileSync(join(root, 'models', 'config.json'), '{}');
  const workspace = join(root, 'workspace');
  return { root, workspace, access: openPathAccess(workspace, [workspace]) };
}

describe('openPathAccess', () => {
  it('accepts paths in the workspace, existing or not, relative or absolute', () => {
    const { workspace, access } = folders();
    expect(access.check('datasets/a.jsonl')).toBe(join(workspace, 'datasets', 'a.jsonl'));
    expect(access.check(workspace)).toBe(workspace);
  });

  it('rejects paths outside, including through dots, a sibling with a similar name, and a link', () => {
    const { root, workspace, access } = folders();
    symlinkSync(join(root, 'models'), join(workspace, 'link'));
    for (const path of [
      '../models',
      '/etc/passwd',
      join(root, 'workspace-2'),
      'datasets/../../models',
      'link/config.json',
    ])
      expect(errorOf(() => access.check(path))).toMatchObject({ code: 'PATH_OUTSIDE', kind: 'input' });
    const leads = `whose links lead to ${realpathSync(join(root, 'models'))}`;
    expect(errorOf(() => access.check('link'))).toMatchObject({ message: expect.stringContaining(leads) });
    const plain = { message: expect.not.stringContaining('links') };
    expect(errorOf(() => access.check(join(root, 'models')))).toMatchObject(plain);
  });

  it('follows links that lead to nothing yet, circles, and dots after links', () => {
    const { root, workspace, access } = folders();
    mkdirSync(join(workspace, 'deep', 'folder'), { recursive: true });
    const link = (target: string, name: string): void => symlinkSync(target, join(workspace, name));
    link(join(root, 'made-later'), 'dangling');
    link('../made-later', 'relative');
    link('dangling', 'twice');
    link('deep/folder', 'inner');
    link('inner/../../../models', 'through');
    link('circle', 'circle');
    link('../outside/../workspace/new', 'around');
    for (const path of [
      ...[
        'dangling',
        'dangling/a.txt',
        'relative',
        'twice/a/b',
        'through',
        'through/config.json',
        'circle',
        'circle/a',
      ],
      ...['inner/../../../models', 'dangling/../a', 'a\0b', 'x'.repeat(5000)],
    ])
      expect(
        errorOf(() => access.check(path)),
        path.slice(0, 40),
      ).toMatchObject({ code: 'PATH_OUTSIDE', kind: 'input' });
    expect(access.check('inner/../a.txt')).toBe(join(workspace, 'deep', 'a.txt'));
    expect(access.check('inner/new/a.txt')).toBe(join(workspace, 'deep', 'folder', 'new', 'a.txt'));
    expect(access.check('around')).toBe(join(workspace, 'new'));
    expect(access.check('./none/../a//b/')).toBe(join(workspace, 'a', 'b'));
  });

  it('accepts what the user opened, and its contents', () => {
    const { root, access } = folders();
    access.allow(join(root, 'models'));
    expect(access.check(join(root, 'models', 'config.json'))).toBe(join(root, 'models', 'config.json'));
  });
});

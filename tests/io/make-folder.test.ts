import fs, { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../../main/io/make-folder.ts';
import { errorOf } from '../store/helpers.ts';
import { temporaryFolder } from '../temporary-folder.ts';

describe('makeFolder', () => {
  it('creates a folder and those above it, once', () => {
    const root = temporaryFolder();
    expect(makeFolder(join(root, 'a/b/c'), { mode: 0o700 })).toBe(true);
    expect(makeFolder(join(root, 'a/b/c'))).toBe(false);
    if (process.platform !== 'win32') expect(statSync(join(root, 'a/b')).mode & 0o777).toBe(0o700);
    symlinkSync(join(root, 'a'), join(root, 'link'));
    expect(makeFolder(join(root, 'link/d'))).toBe(true);
    expect(makeFolder(join(root, 'link'))).toBe(false);
  });

  it('says why there can be none', () => {
    const root = temporaryFolder();
    writeFileSync(join(root, 'file'), '');
    symlinkSync(join(root, 'nowhere'), join(root, 'dangling'));
    expect(errorOf(() => makeFolder(join(root, 'file')))).toMatchObject({ code: 'EEXIST' });
    expect(errorOf(() => makeFolder(join(root, 'file/a/b')))).toMatchObject({ code: 'ENOTDIR' });
    expect(errorOf(() => makeFolder(join(root, 'dangling')))).toMatchObject({ code: 'ELOOP' });
    expect(errorOf(() => makeFolder(join(root, 'dangling/a')))).toMatchObject({ code: 'ELOOP' });
    expect(errorOf(() => makeFolder(join(root, 'x'.repeat(300))))).toMatchObject({ code: 'ENAMETOOLONG' });
  });

  it('ends where a folder is there and takes nothing, as /proc does', () => {
    const root = temporaryFolder();
    const refuse = (): never => {
      throw Object.assign(new Error('ENOENT: no such file or directory'), { code: 'ENOENT', syscall: 'mkdir' });
    };
    const ops = { existsSync: fs.existsSync, mkdirSync: refuse };
    expect(errorOf(() => makeFolder(join(root, 'x'), { ops }))).toMatchObject({ code: 'EPERM', syscall: 'mkdir' });
    mkdirSync(join(root, 'y'));
    expect(makeFolder(join(root, 'y'), { ops })).toBe(false);
    // Windows says the same of a path through a file.
    writeFileSync(join(root, 'file'), '');
    expect(errorOf(() => makeFolder(join(root, 'file/a'), { ops }))).toMatchObject({ code: 'ENOTDIR' });
  });
});

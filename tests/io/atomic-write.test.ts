import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  cleanLeftovers,
  type FileOps,
  hiddenSibling,
  writeError,
  writeFileAtomic,
  writeFolderAtomic,
} from '../../main/io/atomic-write.ts';
import { asWindows } from '../as-windows.ts';
import { errorOf } from '../store/helpers.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: simulated`), { code, syscall: 'write' });
}

/** The real file functions, with one that fails from its `after`-th call on. */
function failing(name: keyof FileOps, code: string, after = 0): FileOps {
  let calls = 0;
  const all: FileOps = fs;
  const real = all[name] as (...parameters: unknown[]) => unknown;
  const broken = (...parameters: unknown[]) => {
    if (calls++ >= after) throw systemError(code);
    return real(...parameters);
  };
  return { ...all, [name]: broken };
}

describe('writeFileAtomic', () => {
  it('creates and replaces, leaving nothing else behind', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'state.json');
    writeFileAtomic(path, 'one');
    writeFileAtomic(path, new TextEncoder().encode('two'));
    expect(fs.readFileSync(path, 'utf8')).toBe('two');
    expect(fs.readdirSync(folder)).toEqual(['state.json']);
  });

  it('writes through no link that lies under its hidden name already', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'state.json');
    const mine = join(temporaryFolder(), 'mine.txt');
    fs.writeFileSync(mine, 'mine');
    const last = Number(/-(\d+)\.tmp$/.exec(hiddenSibling(path, 'tmp'))?.[1]);
    for (const [i, target] of [mine, join(folder, 'nowhere'), mine].entries())
      fs.symlinkSync(target, join(folder, `.state.json.${process.pid}-${last + i + 1}.tmp`));
    writeFileAtomic(path, 'new');
    expect([fs.readFileSync(path, 'utf8'), fs.readFileSync(mine, 'utf8')]).toEqual(['new', 'mine']);
    expect(fs.lstatSync(path).isFile()).toBe(true);
    expect(fs.existsSync(join(folder, 'nowhere'))).toBe(false);
  });

  it('writes all bytes when the system takes a few at a time', () => {
    const path = join(temporaryFolder(), 'long.txt');
    const slow = (file: number, bytes: Uint8Array, offset: number) => fs.writeSync(file, bytes, offset, 1);
    writeFileAtomic(path, 'abcdef', { ops: { ...fs, writeSync: slow as typeof fs.writeSync } });
    expect(fs.readFileSync(path, 'utf8')).toBe('abcdef');
  });

  it.each([
    ['writeSync', 'ENOSPC', 'DISK_FULL', /disk is full/],
    ['fsyncSync', 'EDQUOT', 'DISK_FULL', /used up/],
    ['openSync', 'EACCES', 'NO_PERMISSION', /may not write/],
    ['renameSync', 'EPERM', 'NO_PERMISSION', /may not write/],
    ['openSync', 'EROFS', 'READ_ONLY', /read-only/],
    ['openSync', 'EIO', 'WRITE_FAILED', /EIO/],
    ['renameSync', 'EISDIR', 'WRITE_FAILED', /folder with that name/],
  ] as const)('keeps the old file when %s fails with %s', (name, system, code, why) => {
    const folder = temporaryFolder();
    const path = join(folder, 'state.json');
    writeFileAtomic(path, 'old');
    const error = errorOf(() => writeFileAtomic(path, 'new', { what: 'the state', ops: failing(name, system) }));
    expect(error).toMatchObject({ code, message: expect.stringMatching(why), remedy: expect.stringMatching(/./) });
    expect(String(error)).toContain(`the state to ${path}`);
    expect(String(error)).toContain('intact');
    expect(fs.readFileSync(path, 'utf8')).toBe('old');
    expect(fs.readdirSync(folder)).toEqual(['state.json']);
  });

  it('says when the folder is missing or is a file', () => {
    const folder = temporaryFolder();
    expect(errorOf(() => writeFileAtomic(join(folder, 'no', 'a'), 'x'))).toMatchObject({ code: 'NO_FOLDER' });
    writeFileAtomic(join(folder, 'plain'), 'x');
    expect(errorOf(() => writeFileAtomic(join(folder, 'plain', 'a'), 'x'))).toMatchObject({
      code: 'NO_FOLDER',
      message: expect.stringContaining('is a file'),
    });
  });
});

describe('writeFolderAtomic', () => {
  function fillWith(text: string) {
    return (folder: string) => {
      fs.mkdirSync(join(folder, 'inner'));
      fs.writeFileSync(join(folder, 'inner', 'weights'), text);
    };
  }
  const read = (target: string) => fs.readFileSync(join(target, 'inner', 'weights'), 'utf8');

  it('creates a folder, its parents too, and replaces one', () => {
    const target = join(temporaryFolder(), 'outputs', 'checkpoint-20');
    writeFolderAtomic(target, fillWith('one'));
    writeFolderAtomic(target, fillWith('two'));
    expect(read(target)).toBe('two');
    expect(fs.readdirSync(join(target, '..'))).toEqual(['checkpoint-20']);
  });

  it('keeps the old folder when filling fails, and passes on the error', () => {
    const folder = temporaryFolder();
    const target = join(folder, 'checkpoint-20');
    writeFolderAtomic(target, fillWith('old'));
    const broken = () => {
      throw new Error('no weights');
    };
    expect(() => writeFolderAtomic(target, broken)).toThrow('no weights');
    const full = () => {
      throw systemError('ENOSPC');
    };
    expect(errorOf(() => writeFolderAtomic(target, full))).toMatchObject({ code: 'DISK_FULL' });
    expect(read(target)).toBe('old');
  });

  it.each([
    ['mkdirSync', 'ENOSPC', 0],
    ['fsyncSync', 'ENOSPC', 0],
    ['renameSync', 'EACCES', 0],
    ['openSync', 'EROFS', 1],
  ] as const)('keeps the old folder when %s fails with %s', (name, code, after) => {
    const folder = temporaryFolder();
    const target = join(folder, 'checkpoint-20');
    writeFolderAtomic(target, fillWith('old'));
    const ops = failing(name, code, after);
    expect(errorOf(() => writeFolderAtomic(target, fillWith('new'), { what: 'the checkpoint', ops }))).toMatchObject({
      message: expect.stringContaining(`the checkpoint to ${target}`),
    });
    expect(read(target)).toBe('old');
    expect(fs.readdirSync(folder)).toEqual(['checkpoint-20']);
  });

  it('puts the old folder back when the new one cannot take its place', () => {
    const folder = temporaryFolder();
    const target = join(folder, 'checkpoint-20');
    writeFolderAtomic(target, fillWith('old'));
    let calls = 0;
    const renameSync = (from: fs.PathLike, to: fs.PathLike) => {
      calls += 1;
      if (calls === 2) throw systemError('ENOSPC');
      fs.renameSync(from, to);
    };
    expect(errorOf(() => writeFolderAtomic(target, fillWith('new'), { ops: { ...fs, renameSync } }))).toMatchObject({
      code: 'DISK_FULL',
    });
    expect(read(target)).toBe('old');
  });

  it('does without syncing folders where the file system cannot', () => {
    const target = join(temporaryFolder(), 'checkpoint-20');
    let calls = 0;
    const fsyncSync = (file: number) => {
      calls += 1;
      if (fs.fstatSync(file).isDirectory()) throw systemError('EINVAL');
      fs.fsyncSync(file);
    };
    writeFolderAtomic(target, fillWith('one'), { ops: { ...fs, fsyncSync } });
    expect(calls).toBeGreaterThan(2);
    expect(read(target)).toBe('one');
  });
});

describe('cleanLeftovers', () => {
  it('removes temporaries and brings back what was moved aside', () => {
    const folder = temporaryFolder();
    for (const name of ['.a.12-1.tmp', '.b.12-2.old', '.c.12-3.old', 'c', '.hidden']) fs.mkdirSync(join(folder, name));
    cleanLeftovers(folder);
    expect(fs.readdirSync(folder).sort()).toEqual(['.hidden', 'b', 'c']);
  });

  it('is done for its own name before a folder is written', () => {
    const folder = temporaryFolder();
    for (const name of ['.a.12-1.tmp', '.other.12-2.tmp']) fs.mkdirSync(join(folder, name));
    writeFolderAtomic(join(folder, 'a'), () => undefined);
    expect(fs.readdirSync(folder).sort()).toEqual(['.other.12-2.tmp', 'a']);
  });
});

describe('writeError', () => {
  it('leaves errors that are not of the system as they are', () => {
    const error = new Error('mine');
    expect(writeError(error, 'a')).toBe(error);
  });

  it.each([
    ['EBUSY', 'a.csv', 'NO_PERMISSION', /another program has it open/],
    ['ENOENT', 'a:b.csv', 'BAD_NAME', /can't hold a file of that name/],
    ['ENOENT', 'plain/a.csv', 'NO_FOLDER', /is a file, not a folder/],
    ['ENOENT', 'none/a.csv', 'NO_FOLDER', /its folder doesn't exist/],
  ])('knows what Windows means by %s of %s', (said, name, code, why) => {
    const folder = temporaryFolder();
    fs.writeFileSync(join(folder, 'plain'), '');
    asWindows();
    const found = writeError(systemError(said), join(folder, name));
    expect(found).toMatchObject({ code, message: expect.stringMatching(why) });
  });

  it('knows a folder in the place of a file, of which Windows says that it is not permitted', () => {
    const folder = temporaryFolder();
    fs.mkdirSync(join(folder, 'a.csv'));
    const error = errorOf(() => writeFileAtomic(join(folder, 'a.csv'), 'x', { ops: failing('renameSync', 'EPERM') }));
    expect(error).toMatchObject({ message: expect.stringContaining('there is a folder with that name') });
  });
});

import * as fs from 'node:fs';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { BraidError } from '../../main/errors.ts';
import type { FileOps } from '../../main/io/atomic-write.ts';
import { writeFilesAtomic } from '../../main/io/write-files.ts';
import { temporaryFolder } from '../temporary-folder.ts';

let folder = '';
beforeEach(() => {
  folder = temporaryFolder();
});

function caught(work: () => void): BraidError {
  try {
    work();
  } catch (error) {
    if (error instanceof BraidError) return error;
    throw error;
  }
  throw new Error('Expected a BraidError');
}

/** A disk that takes two bytes a call and fails after some calls. */
function failingDisk(code: string, after: number): FileOps {
  let calls = 0;
  const writeSync = (file: number, bytes: Uint8Array, offset: number, length: number): number => {
    if (calls++ >= after) throw Object.assign(new Error(code), { code, syscall: 'write' });
    return fs.writeSync(file, bytes, offset, Math.min(2, length));
  };
  return { ...fs, writeSync: writeSync as typeof fs.writeSync };
}

describe('writeFilesAtomic', () => {
  it('writes files into new folders and leaves nothing else', () => {
    const path = join(folder, 'new', 'a.txt');
    writeFilesAtomic([{ path, content: 'h\u00e9llo' }]);
    writeFilesAtomic([{ path, content: 'again' }]);
    expect(readFileSync(path, 'utf8')).toBe('again');
    expect(readdirSync(join(folder, 'new'))).toEqual(['a.txt']);
  });

  it('changes nothing when the disk is full, not even the files that fitted', () => {
    const [first, second] = [join(folder, 'a.txt'), join(folder, 'b.txt')];
    writeFileSync(first, 'before');
    const files = [
      { path: first, content: 'ab' },
      { path: second, content: 'cdef' },
    ];
    const error = caught(() => writeFilesAtomic(files, failingDisk('ENOSPC', 2)));
    expect(error).toMatchObject({ code: 'DISK_FULL', kind: 'runtime' });
    expect(error.message).toContain(`Can't write b.txt to ${second}: the disk is full`);
    expect(readFileSync(first, 'utf8')).toBe('before');
    expect(readdirSync(folder)).toEqual(['a.txt']);
  });

  it('puts every place back when a later one refuses, with and without hard links', () => {
    const [first, second, fresh] = [join(folder, 'a.txt'), join(folder, 'b.txt'), join(folder, 'new.txt')];
    writeFileSync(first, 'first before');
    writeFileSync(second, 'second before');
    const refusing = (links: boolean): FileOps => ({
      ...fs,
      renameSync: ((from: string, to: string) => {
        if (to === second && from.endsWith('.tmp'))
          throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'rename' });
        fs.renameSync(from, to);
      }) as typeof fs.renameSync,
      linkSync: (links
        ? fs.linkSync
        : () => {
            throw Object.assign(new Error('EPERM'), { code: 'EPERM', syscall: 'link' });
          }) as typeof fs.linkSync,
    });
    const files = [fresh, first, second].map((path) => ({ path, content: 'after' }));
    for (const links of [true, false]) {
      expect(caught(() => writeFilesAtomic(files, refusing(links))).message).toContain('b.txt');
      expect([readFileSync(first, 'utf8'), readFileSync(second, 'utf8')]).toEqual(['first before', 'second before']);
      expect(readdirSync(folder).sort()).toEqual(['a.txt', 'b.txt']);
    }
    writeFilesAtomic(files);
    expect(files.map(({ path }) => readFileSync(path, 'utf8'))).toEqual(['after', 'after', 'after']);
    expect(readdirSync(folder).sort()).toEqual(['a.txt', 'b.txt', 'new.txt']);
  });

  it('forces the renames to the disk', () => {
    const synced: string[] = [];
    const opened = new Map<number, string>();
    const watching: FileOps = {
      ...fs,
      openSync: ((path: string, flags: string) => {
        const file = fs.openSync(path, flags);
        opened.set(file, path);
        return file;
      }) as typeof fs.openSync,
      fsyncSync: (file) => {
        synced.push(opened.get(file) ?? '');
        fs.fsyncSync(file);
      },
    };
    writeFilesAtomic([{ path: join(folder, 'x', 'a.txt'), content: 'a' }], watching);
    if (process.platform !== 'win32') expect(synced.at(-1)).toBe(join(folder, 'x'));
  });

  it('says in words that a name is too long', () => {
    const error = caught(() => writeFilesAtomic([{ path: join(folder, 'x'.repeat(300)), content: 'a' }]));
    expect(error).toMatchObject({ code: 'NAME_TOO_LONG', message: expect.stringContaining('too long for the disk') });
  });

  it('says why a place cannot be written', () => {
    const path = join(folder, 'a.txt');
    mkdirSync(path);
    expect(caught(() => writeFilesAtomic([{ path, content: 'x' }])).message).toContain(
      'there is a folder with that name',
    );
    expect(readdirSync(folder)).toEqual(['a.txt']);
  });

  it.each([['b.txt'], ['deeper/b.txt']])('rejects a folder that is a file (%s below it)', (name) => {
    writeFileSync(join(folder, 'file'), '');
    const error = caught(() => writeFilesAtomic([{ path: join(folder, 'file', name), content: 'x' }]));
    expect(error).toMatchObject({ code: 'BAD_FOLDER', kind: 'input' });
    expect(error.message).toMatch(/^Expected a folder at .*, got a file on that path$/);
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('');
  });

  it('reports the first reason when the leftovers cannot be removed either', () => {
    const stuck = (): never => {
      throw new Error('stuck');
    };
    const ops = { ...failingDisk('EROFS', 0), rmSync: stuck };
    const error = caught(() => writeFilesAtomic([{ path: join(folder, 'a.txt'), content: 'x' }], ops));
    expect(error.message).toContain('that disk is read-only');
  });
});

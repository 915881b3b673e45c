import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BraidError } from '../../main/errors.ts';
import { writeFilesWhole } from '../../main/services/atomic-write.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'braid-write-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function caught(work: () => void): BraidError {
  try {
    work();
  } catch (error) {
    if (error instanceof BraidError) return error;
  }
  throw new Error('Expected a BraidError');
}

function fullDisk(code: string, after: number) {
  let calls = 0;
  return (descriptor: number, bytes: Uint8Array, offset: number): number => {
    if (calls++ >= after) throw Object.assign(new Error(code), { code });
    return writeSync(descriptor, bytes, offset, Math.min(2, bytes.length - offset));
  };
}

describe('writeFilesWhole', () => {
  it('writes files into new folders and leaves nothing else', () => {
    const path = join(folder, 'new', 'a.txt');
    writeFilesWhole([{ path, content: 'h\u00e9llo' }]);
    writeFilesWhole([{ path, content: 'again' }]);
    expect(readFileSync(path, 'utf8')).toBe('again');
    expect(readdirSync(join(folder, 'new'))).toEqual(['a.txt']);
  });

  it('goes on where the disk takes only a part at a time', () => {
    const path = join(folder, 'a.txt');
    writeFilesWhole([{ path, content: 'abcdefg' }], fullDisk('ENOSPC', 99));
    expect(readFileSync(path, 'utf8')).toBe('abcdefg');
  });

  it('changes nothing when the disk is full, not even the files that fitted', () => {
    const [first, second] = [join(folder, 'a.txt'), join(folder, 'b.txt')];
    writeFileSync(first, 'before');
    const files = [
      { path: first, content: 'ab' },
      { path: second, content: 'cdef' },
    ];
    const error = caught(() => writeFilesWhole(files, fullDisk('ENOSPC', 2)));
    expect(error).toMatchObject({ code: 'DISK_FULL', kind: 'runtime' });
    expect(error.message).toBe(`Expected room to write ${second}, got a full disk; nothing was changed`);
    expect(readFileSync(first, 'utf8')).toBe('before');
    expect(readdirSync(folder)).toEqual(['a.txt']);
  });

  it('says why a place cannot be written', () => {
    const path = join(folder, 'a.txt');
    const refused = caught(() => writeFilesWhole([{ path, content: 'x' }], fullDisk('EACCES', 0)));
    expect(refused.message).toBe(`Expected to write ${path}, but this user may not write there`);
    expect(refused).toMatchObject({ code: 'CANNOT_WRITE', kind: 'input' });
    mkdirSync(path);
    expect(caught(() => writeFilesWhole([{ path, content: 'x' }])).message).toContain('a folder of that name');
    expect(readdirSync(folder)).toEqual(['a.txt']);
    writeFileSync(join(folder, 'file'), '');
    const below = join(folder, 'file', 'b.txt');
    expect(caught(() => writeFilesWhole([{ path: below, content: 'x' }])).message).toContain('is a file, not a folder');
  });
});

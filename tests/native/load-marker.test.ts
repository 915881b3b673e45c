import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { crashedBefore, underMark } from '../../main/native/load-marker.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** No process has a number beyond the system's limit. */
const DEAD = 99_999_999;

const mark = (root: string, pid: number, rest = '') => writeFileSync(join(root, `loading-${pid}${rest}`), '');

describe('underMark', () => {
  it('leaves no mark when the load comes back, well or not', async () => {
    const root = temporaryFolder();
    const during: (readonly string[])[] = [];
    await underMark({ root }, async () => void during.push(readdirSync(root)));
    await expect(underMark({ root }, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(during).toEqual([[expect.stringMatching(`^loading-${process.pid}-\\d+$`)]]);
    expect(readdirSync(root)).toEqual([]);
  });

  it('deletes the marks of dead processes when the load comes back, not those of living ones', async () => {
    const root = temporaryFolder();
    mark(root, DEAD, '-1');
    mark(root, process.ppid, '-1');
    await underMark({ root }, () => Promise.resolve());
    expect(readdirSync(root)).toEqual([`loading-${process.ppid}-1`]);
    mark(root, DEAD, '-2');
    expect(crashedBefore({ root })).toBeNull();
  });
});

describe('crashedBefore', () => {
  it('believes a crash at the second mark of a dead process: the first may be of one that was killed', () => {
    const root = temporaryFolder();
    expect(crashedBefore({ root: join(root, 'none') })).toBeNull();
    mark(root, process.ppid, '-1');
    mark(root, process.ppid, '-2');
    expect(crashedBefore({ root })).toBeNull();
    // As earlier versions wrote it.
    mark(root, DEAD);
    expect(crashedBefore({ root })).toBeNull();
    // A process in a container may get the number of the one that died.
    mark(root, process.pid, '-2');
    expect(crashedBefore({ root })).toEqual({
      kind: 'crashed',
      detail: 'its last 2 loads ended their process; set it up again',
    });
  });
});

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { crashedBefore, underMark } from '../../main/native/load-marker.ts';

const root = mkdtempSync(join(tmpdir(), 'braid-mark-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('underMark', () => {
  it('leaves no mark when the load comes back, well or not', async () => {
    const during: (readonly string[])[] = [];
    await underMark({ root }, async () => void during.push(readdirSync(root)));
    await expect(underMark({ root }, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(during).toEqual([[`loading-${process.pid}`]]);
    expect(readdirSync(root)).toEqual([]);
  });
});

describe('crashedBefore', () => {
  it('believes the mark of a dead process, not that of a living one', () => {
    expect(crashedBefore({ root: join(root, 'none') })).toBeNull();
    writeFileSync(join(root, `loading-${process.pid}`), '');
    expect(crashedBefore({ root })).toBeNull();
    // No process has a number beyond the system's limit.
    writeFileSync(join(root, 'loading-99999999'), '');
    expect(crashedBefore({ root })).toMatchObject({ kind: 'crashed' });
  });
});

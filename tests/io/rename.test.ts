import * as fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeFileAtomic, writeFolderAtomic } from '../../main/io/atomic-write.ts';
import { renameSettled, renameSettledAsync } from '../../main/io/rename.ts';
import { writeFilesAtomic } from '../../main/io/write-files.ts';
import { asWindows, refusedAtFirst } from '../as-windows.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function fresh() {
  const folder = temporaryFolder();
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  fs.writeFileSync(from, 'x');
  return { from, to };
}

/** Both, each with a rename that is refused so many times; rejects with the last error. */
const both = {
  renameSettled: async (from: string, to: string, code: string, times: number, platform: NodeJS.Platform) => {
    const rename = refusedAtFirst(fs.renameSync, code, times);
    const work = async (): Promise<void> => renameSettled(from, to, { rename, platform });
    const error = await work().catch((failed) => failed);
    return { error, calls: rename.mock.calls.length };
  },
  renameSettledAsync: async (from: string, to: string, code: string, times: number, platform: NodeJS.Platform) => {
    const rename = refusedAtFirst(fs.renameSync, code, times);
    const renameLater = async (a: string, b: string): Promise<void> => rename(a, b);
    const error = await renameSettledAsync(from, to, { rename: renameLater, platform }).catch((failed) => failed);
    return { error, calls: rename.mock.calls.length };
  },
};

describe.each(Object.entries(both))('%s', (_, renamed) => {
  it.each(['EPERM', 'EBUSY', 'EACCES'])('tries again after %s on Windows', async (code) => {
    const { from, to } = fresh();
    expect(await renamed(from, to, code, 2, 'win32')).toEqual({ error: undefined, calls: 3 });
    expect([fs.existsSync(from), fs.existsSync(to)]).toEqual([false, true]);
  });

  it('gives up with the error of a refusal that stays', async () => {
    const { from, to } = fresh();
    const { error, calls } = await renamed(from, to, 'EPERM', Number.POSITIVE_INFINITY, 'win32');
    expect(error).toMatchObject({ code: 'EPERM' });
    expect(calls).toBe(8);
    expect(fs.existsSync(from)).toBe(true);
  });

  it.each([
    ['EPERM', 'linux'],
    ['EBUSY', 'darwin'],
    ['ENOENT', 'win32'],
    ['ENOSPC', 'win32'],
  ] as const)('tries once for %s on %s', async (code, platform) => {
    const { from, to } = fresh();
    expect(await renamed(from, to, code, 1, platform)).toMatchObject({ error: { code }, calls: 1 });
  });
});

describe('atomic writes on Windows', () => {
  it('put files and folders in their places although a scanner has them open for a moment', () => {
    asWindows();
    const folder = temporaryFolder();
    const ops = () => ({ ...fs, renameSync: refusedAtFirst(fs.renameSync) as typeof fs.renameSync });
    const [file, other, tree] = ['file', 'other', 'tree'].map((name) => join(folder, name)) as [string, string, string];
    for (const content of ['old', 'new']) {
      writeFileAtomic(file, content, { ops: ops() });
      writeFilesAtomic([{ path: other, content }], ops());
      writeFolderAtomic(tree, (into) => fs.writeFileSync(join(into, 'a'), content), { ops: ops() });
    }
    expect([file, other, join(tree, 'a')].map((path) => fs.readFileSync(path, 'utf8'))).toEqual(['new', 'new', 'new']);
    expect(fs.readdirSync(folder).sort()).toEqual(['file', 'other', 'tree']);
  });
});

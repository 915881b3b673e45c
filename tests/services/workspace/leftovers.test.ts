import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sweepLeftovers } from '../../../main/services/workspace/leftovers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const LAST_WEEK = new Date(Date.now() - 7 * 24 * 3_600_000);
/** No system gives a process such a number. */
const GONE = 2 ** 30;

function folderWith(...names: readonly string[]): string {
  const folder = temporaryFolder();
  for (const name of names) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'weights'), 'x');
    utimesSync(join(folder, name), LAST_WEEK, LAST_WEEK);
  }
  return folder;
}

describe('sweepLeftovers', () => {
  const kept = ['.git', '.hub-someone--small-main', `.mine.${GONE}-1.old`, `.mine.${process.ppid}-1.tmp`, 'mine'];

  it('deletes what killed processes left, and nothing that is in use or somebody else keeps', async () => {
    const own = `.mine.${process.pid}-1.tmp`;
    const folder = folderWith(...kept, own, `.mine.${GONE}-1.tmp`, `.run-0001-a.b.${GONE}-7.tmp`);
    await sweepLeftovers(folder);
    expect(readdirSync(folder).sort()).toEqual([...kept, own].sort());
    await sweepLeftovers(folder, { atStart: true });
    expect(readdirSync(folder).sort()).toEqual([...kept].sort());
  });

  it('deletes those of one name only, where asked', async () => {
    const folder = folderWith(`.mine.${GONE}-1.tmp`, `.mine.2.${GONE}-1.tmp`);
    await sweepLeftovers(folder, { name: 'mine' });
    expect(readdirSync(folder)).toEqual([`.mine.2.${GONE}-1.tmp`]);
  });

  it('keeps young ones, which another machine may be writing', async () => {
    const young = `.mine.${GONE}-2.tmp`;
    const folder = folderWith(`.mine.${GONE}-1.tmp`);
    mkdirSync(join(folder, young));
    await sweepLeftovers(folder);
    expect(readdirSync(folder)).toEqual([young]);
    await sweepLeftovers(folder, { now: Date.now() + 25 * 3_600_000 });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('takes a folder that is not there', async () => {
    const folder = join(temporaryFolder(), 'models');
    await sweepLeftovers(folder);
    expect(existsSync(folder)).toBe(false);
  });
});

import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRecordFiles } from '../../../main/services/library/record-files.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const record = (n: number, a: string, b: string) => ({
  id: `r${n}`,
  words: 2,
  title_a: `Ä ${n}`,
  title_b: 'B',
  fragment_a: a,
  fragment_b: b,
  prompt: `process ${a} ${b}`,
  target: `${a.split(' ')[0]} ${b.split(' ')[0]} ${a.split(' ')[1]} ${b.split(' ')[1]}`,
});

function datasetFile(lines: readonly string[]): string {
  const file = join(temporaryFolder(), 'x.jsonl');
  writeFileSync(file, lines.join('\n'));
  return file;
}

describe('page', () => {
  it('gives records by place, with their lines', async () => {
    const file = datasetFile(['', ...[1, 2, 3].map((n) => JSON.stringify(record(n, `über ${n}`, 'two words'))), '  ']);
    const { page } = openRecordFiles();
    const all = await page(file, { offset: 0, limit: 10 });
    expect(all.total).toBe(3);
    expect(all.records.map(({ kind, line }) => [kind, line])).toEqual([
      ['interleave', 2],
      ['interleave', 3],
      ['interleave', 4],
    ]);
    expect((await page(file, { offset: 2, limit: 10 })).records).toMatchObject([{ record: { fragment_a: 'über 3' } }]);
  });

  it('shows bad lines and records of other tasks as what they are', async () => {
    const file = datasetFile([
      '{"id":',
      '{"id":"a","post":"hello"}',
      JSON.stringify({ ...record(1, 'a b', 'c d'), target: 'a' }),
    ]);
    const { records } = await openRecordFiles().page(file, { offset: 0, limit: 10 });
    expect(records).toMatchObject([
      { kind: 'fault', line: 1 },
      { kind: 'other', json: expect.stringContaining('"post": "hello"') },
      { kind: 'fault', line: 3, reason: expect.stringContaining('"target"') },
    ]);
  });

  it('searches the words of records, not the frame of their prompts', async () => {
    const file = datasetFile(
      [record(1, 'red one', 'blue two'), record(2, 'green one', 'say "two"')].map((r) => JSON.stringify(r)),
    );
    const { page } = openRecordFiles();
    const found = async (search: string) => {
      const { records, total } = await page(file, { offset: 0, limit: 10, search });
      return [total, ...records.map(({ line }) => line)];
    };
    expect(await Promise.all(['RED', 'ä 2', 'say "two"', 'process', 'one'].map(found))).toEqual([
      [1, 1],
      [1, 2],
      [1, 2],
      [0],
      [2, 1, 2],
    ]);
  });

  it('searches a file of many megabytes line by line', async () => {
    const lines = Array.from({ length: 5000 }, (_, i) =>
      JSON.stringify({ id: `ä${i}`, said: 'ö'.repeat(100), n: i % 7 }),
    );
    const { records, total } = await openRecordFiles().page(datasetFile(lines), { offset: 0, limit: 9, search: 'ä4' });
    expect([total, ...records.map(({ line }) => line)]).toEqual([1111, 5, 41, 42, 43, 44, 45, 46, 47, 48]);
  });

  it('rereads a changed file and reports a deleted one', async () => {
    const file = datasetFile(['{"id":"a"}']);
    const { page } = openRecordFiles();
    expect((await page(file, { offset: 0, limit: 1 })).total).toBe(1);
    writeFileSync(file, '{"id":"a"}\n{"id":"b"}\n');
    utimesSync(file, 1, 1);
    expect((await page(file, { offset: 0, limit: 1 })).total).toBe(2);
    rmSync(file);
    await expect(page(file, { offset: 0, limit: 1 })).rejects.toMatchObject({ code: 'DATASET_MISSING' });
  });
});

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDataset } from '../../../../main/services/datasets/index.ts';
import { splitReplies } from '../../../../main/services/datasets/reply-split/split.ts';
import { splitReplyFile } from '../../../../main/services/datasets/reply-split/split-file.ts';
import { parseReplyRecord, type ReplyRecord } from '../../../../main/tasks/reply/record.ts';
import { replyTask } from '../../../../main/tasks/reply/task.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

/** Two replies a post, engagement that grows with the square of the post's number. */
function made(posts: number): ReplyRecord[] {
  return Array.from({ length: 2 * posts }, (_, i) =>
    parseReplyRecord({
      id: `r${i}`,
      post: `Post number ${i >> 1}`,
      reply: `Reply number ${i}`,
      engagement: { likes: (i >> 1) ** 2, reposts: 0, replies: i % 2 },
    }),
  );
}

const failed = (records: readonly ReplyRecord[]): string[] =>
  splitReplies(records, { ratio: 0.5, seed: 1 })
    .checks.filter(({ ok }) => !ok)
    .map(({ name }) => name);

describe('splitReplies', () => {
  it('deals out posts with all their replies, and each quartile by the ratio', () => {
    const { sft, grpo, before, after, checks } = splitReplies(made(100), { ratio: 0.3, seed: 42 });
    const posts = new Set(sft.map(({ post }) => post));
    expect(grpo.filter(({ post }) => posts.has(post))).toEqual([]);
    expect(sft.length + grpo.length).toBe(200);
    expect(sft.length).toBe(60);
    expect(before.quartiles.reduce((a, b) => a + b)).toBe(200);
    for (const [q, count] of after.sft.quartiles.entries())
      expect(Math.abs(count - 0.3 * (before.quartiles[q] ?? 0))).toBeLessThanOrEqual(2);
    expect(checks.every(({ ok }) => ok)).toBe(true);
  });

  it('is determined by the seed', () => {
    const ids = (seed: number) => splitReplies(made(20), { ratio: 0.5, seed }).sft.map(({ id }) => id);
    expect(ids(1)).toEqual(ids(1));
    expect(ids(1)).not.toEqual(ids(2));
  });

  it('leaves copies out and names them', () => {
    const records = made(10);
    const copy = { ...records[3], id: 'copy', reply: ' REPLY  number 3' } as ReplyRecord;
    const split = splitReplies([...records, copy], { ratio: 0.5, seed: 1 });
    expect(split.duplicates).toEqual([{ id: 'copy', of: 'r3' }]);
    expect(split.checks.find(({ name }) => name === 'duplicates')).toMatchObject({
      ok: false,
      detail: expect.stringContaining('"copy" of "r3"'),
    });
  });

  it('says when a quartile is empty', () => {
    const flat = made(20).map((record) => ({ ...record, engagement: { likes: 5, reposts: 0, replies: 0 } }));
    expect(failed(flat)).toEqual(['quartiles_filled']);
  });

  it('rejects a ratio or posts that leave a side empty', () => {
    expect(() => splitReplies(made(10), { ratio: 1, seed: 1 })).toThrow('between 0 and 1, got 1');
    expect(() => splitReplies(made(1), { ratio: 0.5, seed: 1 })).toThrow(
      'at least two different posts to split, got 1',
    );
    expect(() => splitReplies(made(3), { ratio: 0.01, seed: 1 })).toThrow(
      'Expected records on both sides, got 0 and 6',
    );
    expect(() => splitReplies([], { ratio: 0.5, seed: 1 })).toThrow('Expected records to split, got none');
  });
});

describe('splitReplyFile', () => {
  it('writes both phases as they came, and a figure', () => {
    const folder = temporaryFolder();
    const input = join(folder, 'all.jsonl');
    const own = { ...made(1)[0], id: 'own', post: 'Other', prompt: 'A prompt of its own' };
    const plain = made(8).map(({ prompt: _, ...record }) => record);
    writeFileSync(input, [...plain, own].map((record) => `${JSON.stringify(record)}\n`).join(''));
    const { files } = splitReplyFile(input, join(folder, 'out'), { ratio: 0.5, seed: 42 });
    const lines = [files.sft, files.grpo].flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'));
    expect(lines.map((line) => JSON.parse(line).prompt).filter(Boolean)).toEqual(['A prompt of its own']);
    const ids = [files.sft, files.grpo].flatMap((file) => readDataset(file, replyTask).map(({ id }) => id));
    expect([...ids].sort()).toEqual([...plain, own].map(({ id }) => id).sort());
    expect(readFileSync(files.figure, 'utf8')).toContain('phase 2, grpo');
  });

  it('names the lines without a reply or engagement and writes nothing', () => {
    const folder = temporaryFolder();
    const input = join(folder, 'all.jsonl');
    writeFileSync(input, '{"id":"a","post":"p","reply":"","engagement":{}}\n{"id":"b","post":"p","reply":"r"}\n');
    expect(() => splitReplyFile(input, folder, { ratio: 0.5, seed: 1 })).toThrow(
      /line 1: expected "reply".*"engagement\.likes" to be a whole number, got nothing[\s\S]*line 2: expected "engagement"/,
    );
    expect(existsSync(join(folder, 'train_phase1_sft.jsonl'))).toBe(false);
  });

  it('rejects to write over its input', () => {
    const folder = temporaryFolder();
    const input = join(folder, 'train_phase1_sft.jsonl');
    writeFileSync(
      input,
      made(4)
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(''),
    );
    expect(() => splitReplyFile(input, folder, { ratio: 0.5, seed: 1 })).toThrow("doesn't hold the input");
  });
});

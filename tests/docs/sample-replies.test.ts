import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDataset } from '../../main/services/datasets/index.ts';
import { replyTask } from '../../main/tasks/reply/task.ts';

const read = (name: string) => readDataset(resolve(import.meta.dirname, '../../datasets', name), replyTask);

describe('the bundled reply sample', () => {
  it('has at least 400 pairs with skewed engagement, and separate held-out posts', () => {
    const train = read('sample_replies.jsonl');
    const test = read('sample_replies.test.jsonl');
    expect(train.length).toBeGreaterThanOrEqual(400);
    const likes = train.map(({ engagement }) => engagement.likes).sort((a, b) => a - b);
    const mean = likes.reduce((a, b) => a + b, 0) / likes.length;
    expect(mean).toBeGreaterThan(1.8 * (likes[likes.length / 2] ?? 0));
    const posts = new Set(train.map(({ post }) => post));
    expect(test.filter(({ post }) => posts.has(post))).toEqual([]);
    expect(new Set(test.map(({ post }) => post)).size).toBe(test.length);
  });
});

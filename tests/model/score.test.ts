import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disposeModel, type Model } from '../../main/model/model.ts';
import { scoreCompletions } from '../../main/model/score.ts';
import { openTestBackends } from '../backends.ts';
import { largestDifference } from '../parity/compare.ts';
import { fault } from './faults.ts';
import { tinyModel } from './tiny.ts';

const ITEMS = [
  { promptIds: [5, 9, 33], completionIds: [8, 9, 60, 61] },
  { promptIds: [7], completionIds: [12] },
  { promptIds: [5, 9, 33], completionIds: [] },
  { promptIds: [5, 9, 33], completionIds: [70, 2] },
  { promptIds: [7], completionIds: [80, 81, 82, 83, 84, 85, 86] },
];

describe.each(await openTestBackends())('scoreCompletions on $name', (backend) => {
  let model: Model;
  beforeAll(async () => {
    await backend.use();
    model = tinyModel();
  });
  afterAll(() => disposeModel(model));

  it('gives every token of every item a log-probability, in the order of the items', () => {
    const scores = scoreCompletions(model, null, ITEMS);
    expect(scores.map(({ length }) => length)).toEqual([4, 1, 0, 2, 7]);
    expect(scores.every((row) => row.every((logp) => logp < 0 && Number.isFinite(logp)))).toBe(true);
  });

  it('gives the same however the items are batched', () => {
    const alone = ITEMS.map((item) => scoreCompletions(model, null, [item])[0] ?? new Float32Array(0));
    for (const maxTokens of [1, 5, 7, 12, 100])
      expect(largestDifference(scoreCompletions(model, null, ITEMS, { maxTokens }), alone)).toBeLessThan(1e-5);
  });

  it('reports its progress and leaves no tensors', () => {
    const before = tf.memory().numTensors;
    const done: number[] = [];
    scoreCompletions(model, null, ITEMS, { maxTokens: 8, onBatch: (n) => done.push(n) });
    expect(done.at(-1)).toBe(ITEMS.length);
    expect(done.length).toBeGreaterThan(1);
    expect(done).toEqual([...done].sort((a, b) => a - b));
    expect(tf.memory().numTensors).toBe(before);
  });

  it('takes no items', () => {
    expect(scoreCompletions(model, null, [])).toEqual([]);
  });

  it.each([
    ['an empty prompt', { promptIds: [], completionIds: [1] }, 'EMPTY_PROMPT'],
    ['an id beyond the vocabulary', { promptIds: [96], completionIds: [1] }, 'BAD_TOKEN_ID'],
    ['a negative id', { promptIds: [1], completionIds: [-1] }, 'BAD_TOKEN_ID'],
    ['half an id', { promptIds: [1.5], completionIds: [1] }, 'BAD_TOKEN_ID'],
    [
      'more tokens than the model was loaded for',
      { promptIds: [1], completionIds: Array(64).fill(1) },
      'CONTEXT_TOO_SHORT',
    ],
  ])('refuses %s, naming the item', (_, item, code) => {
    const call = (): unknown => scoreCompletions(model, null, [{ promptIds: [1], completionIds: [2] }, item]);
    expect(fault(call)).toEqual([code, expect.stringContaining('item 2')]);
  });
});

import { describe, expect, it } from 'vitest';
import { KEY_BLOCK, keyPlan, PAIR, ROW_BLOCK, rowPlan } from '../../../main/tensor/webgpu/kernels/attention-plan.ts';

/** A prompt of 5 with completions of 3 and 2, then a sequence of 4 of its own: 14 tokens. */
const SEGMENTS = [
  [0, 5, 0, 0],
  [5, 3, 0, 5],
  [8, 2, 0, 5],
  [10, 4, 0, 0],
];
const TOKENS = 14;

/** The tokens that a token sees, by the definition of a segment. */
function seenBy(token: number): number[] {
  const [start = 0, , prefix = 0, length = 0] = SEGMENTS.find(([s = 0, l = 0]) => token >= s && token < s + l) ?? [];
  const before = Array.from({ length }, (_, i) => prefix + i);
  return [...before, ...Array.from({ length: token - start + 1 }, (_, i) => start + i)];
}

const chunks = (values: Int32Array, size: number): number[][] =>
  Array.from({ length: values.length / size }, (_, i) => [...values.subarray(i * size, (i + 1) * size)]);

describe('rowPlan', () => {
  it('has each head of each token in one block, whatever the block and the group', () => {
    for (const [group, rows] of [
      [1, 2],
      [3, 4],
      [2, 16],
    ] as const) {
      const found = chunks(rowPlan(SEGMENTS.flat(), TOKENS, group, rows).blocks, ROW_BLOCK).flatMap(
        ([start = 0, length = 0, first = 0]) =>
          Array.from({ length: Math.min(rows, length * group - first) }, (_, i) => [
            start + Math.floor((first + i) / group),
            (first + i) % group,
          ]),
      );
      const expected = Array.from({ length: TOKENS * group }, (_, i) => [Math.floor(i / group), i % group]);
      expect(found.sort(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d)).toEqual(expected);
    }
  });

  it('refuses segments beyond the batch', () => {
    expect(() => rowPlan([0, 5, 0, 0], 4, 1, 2)).toThrow('Expected segments within 4 tokens, got 0..5');
  });
});

describe('keyPlan', () => {
  it('lists for every key exactly the rows that see it, each once', () => {
    const group = 2;
    const { blocks, pairs } = keyPlan(SEGMENTS.flat(), TOKENS, group, 3);
    const seen = new Map<number, number[]>();
    for (const [first = 0, count = 0, firstPair = 0, pairCount = 0] of chunks(blocks, KEY_BLOCK)) {
      for (let key = first; key < first + count; key++) {
        const readers = chunks(pairs, PAIR)
          .slice(firstPair, firstPair + pairCount)
          .flatMap(([start = 0, firstRow = 0, endRow = 0, low = 0, high = 0, causal = 0]) =>
            Array.from({ length: endRow - firstRow }, (_, i) => firstRow + i)
              .filter((f) => key >= low && key < high && (causal === 0 || key <= start + Math.floor(f / group)))
              .map((f) => start + Math.floor(f / group)),
          );
        expect(seen.has(key)).toBe(false);
        seen.set(key, readers);
      }
    }
    for (let key = 0; key < TOKENS; key++) {
      const expected = Array.from({ length: TOKENS }, (_, token) => token)
        .filter((token) => seenBy(token).includes(key))
        .flatMap((token) => [token, token]);
      expect(seen.get(key)?.sort((a, b) => a - b)).toEqual(expected);
    }
  });
});

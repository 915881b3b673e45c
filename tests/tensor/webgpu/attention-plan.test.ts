import { describe, expect, it } from 'vitest';
import {
  KEY_BLOCK,
  keyPlan,
  PAIR,
  ROW_BLOCK,
  rowPlan,
  SPLIT,
} from '../../../main/tensor/webgpu/kernels/attention-plan.ts';

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
  /** Of each key, the rows that its blocks list, as tokens. */
  function readersByKey(entries: Int32Array, pairs: Int32Array, group: number): Map<number, number[]> {
    const seen = new Map<number, number[]>();
    for (const [first = 0, count = 0, firstPair = 0, pairCount = 0] of chunks(entries, KEY_BLOCK))
      for (let key = first; key < first + count; key++) {
        const readers = chunks(pairs, PAIR)
          .slice(firstPair, firstPair + pairCount)
          .flatMap(([start = 0, firstRow = 0, endRow = 0, low = 0, high = 0, causal = 0]) =>
            Array.from({ length: endRow - firstRow }, (_, i) => firstRow + i)
              .filter((f) => key >= low && key < high && (causal === 0 || key <= start + Math.floor(f / group)))
              .map((f) => start + Math.floor(f / group)),
          );
        seen.set(key, [...(seen.get(key) ?? []), ...readers]);
      }
    return seen;
  }

  it('lists for every key exactly the rows that see it, each once', () => {
    const group = 2;
    const { whole, parts, pairs } = keyPlan(SEGMENTS.flat(), TOKENS, group, 3);
    expect(parts.entries.length).toBe(0);
    const seen = readersByKey(whole.entries, pairs, group);
    for (let key = 0; key < TOKENS; key++) {
      const expected = Array.from({ length: TOKENS }, (_, token) => token)
        .filter((token) => seenBy(token).includes(key))
        .flatMap((token) => [token, token]);
      expect(seen.get(key)?.sort((a, b) => a - b)).toEqual(expected);
    }
  });

  it('splits the keys of a prompt among parts of about the same rows', () => {
    const [group, keys, prompt, completion, count] = [3, 16, 40, 80, 12];
    const table = [
      [0, prompt, 0, 0],
      ...Array.from({ length: count }, (_, i) => [prompt + i * completion, completion, 0, prompt]),
    ].flat();
    const tokens = prompt + count * completion;
    const { whole, parts, splits, lines, pairs } = keyPlan(table, tokens, group, keys);
    const found = chunks(splits, SPLIT);
    expect(found.map(([first, own]) => [first, own])).toEqual([
      [0, 16],
      [16, 16],
      [32, 8],
    ]);
    // Each part's results have lines of their own, a block's worth, and those of a split lie one after the other.
    const ofParts = chunks(parts.entries, KEY_BLOCK);
    expect(ofParts.map(([, , , , line]) => line)).toEqual(ofParts.map((_, i) => i * keys));
    expect(
      found.flatMap(([first, , at = 0, n = 0]) => Array.from({ length: n }, (_, i) => [first, at + i * keys])),
    ).toEqual(ofParts.map(([first, , , , line]) => [first, line]));
    expect(lines).toBe(ofParts.length * keys);
    // Whole blocks' lines are their keys.
    expect(chunks(whole.entries, KEY_BLOCK).every(([first, , , , line]) => first === line)).toBe(true);
    const rows = parts.costs.map((cost) => cost / keys);
    expect(Math.max(...rows)).toBeLessThan(400);
    expect(Math.min(...rows)).toBeGreaterThan(50);
    const seen = readersByKey(parts.entries, pairs, group);
    for (const key of [0, 20, 39]) {
      const own = Array.from({ length: prompt - key }, (_, i) => key + i);
      const all = [...own, ...Array.from({ length: count * completion }, (_, i) => prompt + i)];
      expect(seen.get(key)?.sort((a, b) => a - b)).toEqual(all.flatMap((token) => [token, token, token]));
    }
    const seenWhole = readersByKey(whole.entries, pairs, group);
    expect([...seenWhole.keys()].sort((a, b) => a - b)).toEqual(
      Array.from({ length: count * completion }, (_, i) => prompt + i),
    );
  });
});

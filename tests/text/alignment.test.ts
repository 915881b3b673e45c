import { describe, expect, it } from 'vitest';
import { randomStream } from '../../main/random.ts';
import { alignmentScore, alignWords, optimalAlignment } from '../../main/text/alignment.ts';

const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');
const kinds = (target: string, completion: string): string =>
  alignWords(words(target), words(completion))
    .map((column) => column.kind)
    .join(' ');

function randomWords(index: number, side: number): string[] {
  const stream = randomStream(7, index, side);
  const vocabulary = 2 + stream.below(6);
  return Array.from({ length: stream.below(25) }, () => `w${stream.below(vocabulary)}`);
}

describe('alignmentScore', () => {
  it.each([
    ['', '', 1],
    ['a', '', 0],
    ['', 'a', 0],
    ['a b c d', 'a b c d', 1],
    ['a b c d', 'a b d', 3 / 4],
    ['a b c d', 'a b x c d', 4 / 5],
    ['a b c d', 'a x c d', 3 / 4],
    ['a b', 'x y', 0],
    ['a b c', 'a b c a b c', 1 / 2],
    ['A a', 'a A', 1 / 2],
  ])('of "%s" and "%s" is %d', (target, completion, score) => {
    expect(alignmentScore(words(target), words(completion))).toBeCloseTo(score, 12);
  });

  it('prefers more matches among alignments of equal score', () => {
    // Two mismatches score -2, one match between two gaps -1.
    expect(optimalAlignment(words('a b'), words('b a'))).toEqual({ score: -1, matched: 1 });
    expect(optimalAlignment(words('a b c'), words('b c d'))).toEqual({ score: 0, matched: 2 });
    // Two mismatches and no match would also score -2.
    expect(optimalAlignment(words('a b'), words('c d'))).toEqual({ score: -2, matched: 0 });
    // Three mismatches (-3) tie with one match and four gaps (-3).
    expect(optimalAlignment(words('a b c'), words('c d e'))).toEqual({ score: -3, matched: 1 });
  });

  it('is about a half for the two fragments one after the other', () => {
    for (const n of [10, 25, 100, 500]) {
      const a = Array.from({ length: n }, (_, i) => `a${i}`);
      const b = Array.from({ length: n }, (_, i) => `b${i}`);
      const target = a.flatMap((word, i) => [word, b[i] ?? '']);
      // All of one fragment matches, and one word of the other.
      expect(alignmentScore(target, [...a, ...b])).toBeCloseTo((n + 1) / (2 * n), 12);
    }
  });

  it('is symmetric and within 0 and 1', () => {
    for (let i = 0; i < 500; i++) {
      const [a, b] = [randomWords(i, 0), randomWords(i, 1)];
      const score = alignmentScore(a, b);
      expect(alignmentScore(b, a)).toBe(score);
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(1);
    }
  });

  it('rejects more words than its integers can hold', () => {
    const a = Array.from({ length: 26_001 }, () => 'a');
    const b = Array.from({ length: 26_001 }, () => 'b');
    expect(() => alignmentScore(a, b)).toThrow('Expected at most 26000 words to align, got 26001');
    expect(alignmentScore(a, a)).toBe(1);
  });

  it('takes 1,000 x 1,000 words in milliseconds', () => {
    const made = [0, 1].map((side) => {
      const stream = randomStream(1, side);
      return Array.from({ length: 1000 }, () => `w${stream.below(300)}`);
    });
    const [a = [], b = []] = made;
    for (let i = 0; i < 5; i++) alignmentScore(a, b);
    const times = Array.from({ length: 10 }, () => {
      const start = performance.now();
      alignmentScore(a, b);
      return performance.now() - start;
    });
    // Some 2 ms alone on one core; the bound leaves room for a busy machine.
    expect(Math.min(...times)).toBeLessThan(20);
  });
});

describe('alignWords', () => {
  it('names matches, wrong, missing and extra words with both positions', () => {
    expect(alignWords(words('a b c d'), words('a x d e'))).toEqual([
      { kind: 'match', target: 0, completion: 0, expected: 'a', got: 'a' },
      { kind: 'missing', target: 1, completion: 1, expected: 'b', got: null },
      { kind: 'wrong', target: 2, completion: 1, expected: 'c', got: 'x' },
      { kind: 'match', target: 3, completion: 2, expected: 'd', got: 'd' },
      { kind: 'extra', target: 4, completion: 3, expected: null, got: 'e' },
    ]);
  });

  it.each([
    ['', '', ''],
    ['a b', '', 'missing missing'],
    ['', 'a', 'extra'],
    ['a b c', 'a b c', 'match match match'],
    ['a b c', 'a c', 'match missing match'],
    ['a c', 'a b c', 'match extra match'],
    ['a b c', 'a x c', 'match wrong match'],
    ['a a a', 'a', 'match missing missing'],
  ])('of "%s" and "%s" is "%s"', (target, completion, expected) => {
    expect(kinds(target, completion)).toBe(expected);
  });

  it('agrees with the score, and spells out both sequences', () => {
    for (let i = 0; i < 500; i++) {
      const [a, b] = [randomWords(i, 2), randomWords(i, 3)];
      const columns = alignWords(a, b);
      const matches = columns.filter((column) => column.kind === 'match').length;
      expect({ score: 2 * matches - columns.length, matched: matches }).toEqual(optimalAlignment(a, b));
      expect(columns.flatMap((column) => column.expected ?? [])).toEqual(a);
      expect(columns.flatMap((column) => column.got ?? [])).toEqual(b);
      for (const column of columns) {
        if (column.expected !== null) expect(a[column.target]).toBe(column.expected);
        if (column.got !== null) expect(b[column.completion]).toBe(column.got);
        expect(column.kind === 'match').toBe(column.expected === column.got);
      }
    }
  });
});

import { describe, expect, it } from 'vitest';
import type { AlignedWord } from '../../../main/text/word-alignment.ts';
import { describeAlignment, foldWords, fragmentOf, targetOf } from '../../../renderer/components/aligned-words.ts';

const words: readonly AlignedWord[] = [
  { kind: 'match', expected: 'A1', got: 'A1', strand: 'a' },
  { kind: 'extra', expected: null, got: 'new', strand: null },
  { kind: 'wrong', expected: 'B1', got: 'X', strand: 'b' },
  { kind: 'missing', expected: 'A2', got: null, strand: 'a' },
];

describe('describeAlignment', () => {
  it('counts correct words and names only the errors that occur', () => {
    expect(describeAlignment(words)).toBe('1 right, 1 wrong, 1 missing, 1 extra');
    expect(describeAlignment(words.slice(0, 2))).toBe('1 right, 1 extra');
    expect(describeAlignment(words.slice(0, 1))).toBe('all words right');
    expect(describeAlignment([])).toBe('no words');
  });
});

describe('foldWords', () => {
  const many = Array.from({ length: 500 }, (_, i) => ({ kind: i === 90 ? ('wrong' as const) : ('match' as const) }));

  it('shows the beginning of a long text and says what the rest holds', () => {
    const { shown, hidden, hiddenErrors } = foldWords(many, 80);
    expect([shown.length, hidden, hiddenErrors]).toEqual([80, 420, 1]);
  });

  it("doesn't fold a text that is only slightly longer", () => {
    expect(foldWords(many.slice(0, 100), 80)).toEqual({ shown: many.slice(0, 100), hidden: 0, hiddenErrors: 0 });
    expect(foldWords(many.slice(0, 101), 80).hidden).toBe(21);
  });
});

describe('targetOf and fragmentOf', () => {
  it('reconstruct the target and its two fragments from any alignment', () => {
    expect(targetOf(words).map(({ got, strand }) => [got, strand])).toEqual([
      ['A1', 'a'],
      ['B1', 'b'],
      ['A2', 'a'],
    ]);
    expect(fragmentOf(words, 'a')).toBe('A1 A2');
    expect(fragmentOf(words, 'b')).toBe('B1');
  });
});

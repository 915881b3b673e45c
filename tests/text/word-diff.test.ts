import { describe, expect, it } from 'vitest';
import { type DiffRun, diffWords } from '../../main/text/word-diff.ts';

const shown = (runs: readonly DiffRun[]) =>
  runs.map(({ kind, words }) => `${{ same: '=', first: '-', second: '+' }[kind]}${words.join(' ')}`);

const side = (runs: readonly DiffRun[], other: DiffRun['kind']) =>
  runs.flatMap(({ kind, words }) => (kind === other ? [] : words)).join(' ');

describe('diffWords', () => {
  it.each([
    ['the river bends', 'the river bends', ['=the river bends']],
    ['the river bends north', 'the wide river bends', ['=the', '+wide', '=river bends', '-north']],
    ['one two three', 'one 2 three', ['=one', '-two', '+2', '=three']],
    ['', 'new words', ['+new words']],
    ['a b', 'c d', ['-a b', '+c d']],
  ])('compares "%s" with "%s"', (first, second, expected) => {
    expect(shown(diffWords(first, second))).toEqual(expected);
  });

  it('finds a few changes in a text of 60,000 words', () => {
    const words = Array.from({ length: 60_000 }, (_, i) => (i % 3 === 0 ? 'the' : `w${(i * 7919) % 49_999}`));
    const changed = words.map((word, i) => (i === 100 || i === 30_000 ? 'changed' : word));
    changed.splice(45_000, 40);
    const runs = diffWords(words.join(' '), changed.join(' '));
    expect(side(runs, 'second')).toBe(words.join(' '));
    expect(side(runs, 'first')).toBe(changed.join(' '));
    const different = runs.flatMap(({ kind, words }) => (kind === 'same' ? [] : words));
    expect(different.length).toBeLessThan(60);
  });

  it('gives both whole where they have nothing in common, however long', () => {
    const first = Array.from({ length: 5000 }, (_, i) => `a${i}`).join(' ');
    const second = Array.from({ length: 5000 }, (_, i) => `b${i}`).join(' ');
    expect(diffWords(first, second).map(({ kind, words }) => [kind, words.length])).toEqual([
      ['first', 5000],
      ['second', 5000],
    ]);
  });
});

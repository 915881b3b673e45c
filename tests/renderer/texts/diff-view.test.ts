import { describe, expect, it } from 'vitest';
import type { DiffRun } from '../../../main/api/contract/index.ts';
import { columnOf, diffSummary } from '../../../renderer/texts/diff-view.ts';

const many = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`);
const runs: readonly DiffRun[] = [
  { kind: 'same', words: many(100) },
  { kind: 'first', words: ['old'] },
  { kind: 'second', words: ['new', 'words'] },
  { kind: 'same', words: many(30) },
];

describe('columnOf', () => {
  it("shows a column's own words, and folds long common stretches away from them", () => {
    const shown = (which: 'first' | 'second') => columnOf(runs, which).map(({ kind, count }) => [kind, count]);
    expect(shown('first')).toEqual([
      ['skipped', 80],
      ['same', 20],
      ['own', 1],
      ['same', 30],
    ]);
    expect(columnOf(runs, 'second')[2]).toEqual({ kind: 'own', text: 'new words', count: 2 });
  });
});

describe('diffSummary', () => {
  it('counts words', () => {
    expect(diffSummary(runs)).toBe('130 words in common, 1 only in the first, 2 only in the second');
  });
});

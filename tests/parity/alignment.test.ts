import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { alignWords, optimalAlignment } from '../../main/text/alignment.ts';

type Reference = readonly [a: string, b: string, score: number, matched: number];

const file = new URL('./fixtures/alignment.json', import.meta.url);
const references = JSON.parse(readFileSync(file, 'utf8')) as readonly Reference[];

describe('optimalAlignment against Biopython', () => {
  it('finds the same optimal score and the most matches on every pair', () => {
    expect(references.length).toBeGreaterThanOrEqual(2000);
    const different = references.filter(([a, b, score, matched]) => {
      const ours = optimalAlignment([...a], [...b]);
      return ours.score !== score || ours.matched !== matched;
    });
    expect(different).toEqual([]);
  });
});

describe('alignWords against Biopython', () => {
  it('shows an alignment of that score and match count', () => {
    for (const [a, b, score, matched] of references) {
      const columns = alignWords([...a], [...b]);
      const matches = columns.filter((column) => column.kind === 'match').length;
      expect([2 * matches - columns.length, matches]).toEqual([score, matched]);
    }
  });
});

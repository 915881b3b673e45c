import { describe, expect, it } from 'vitest';
import { alignmentReward } from '../../main/tasks/interleave/reward.ts';
import { alignCompletion, alignWords, strandOf } from '../../main/text/word-alignment.ts';

const target = 'the nobody rain told had him';

describe('alignWords', () => {
  it('gives even words of the target to strand A and odd ones to B', () => {
    expect(alignWords(target, target).map(({ kind, strand }) => [kind, strand])).toEqual(
      ['a', 'b', 'a', 'b', 'a', 'b'].map((strand) => ['match', strand]),
    );
  });

  it('keeps strands true to the target behind missing and extra words', () => {
    expect(alignWords('A1 B1 A2 B2', 'A1 new B1 B2')).toEqual([
      { kind: 'match', expected: 'A1', got: 'A1', strand: 'a' },
      { kind: 'extra', expected: null, got: 'new', strand: null },
      { kind: 'match', expected: 'B1', got: 'B1', strand: 'b' },
      { kind: 'missing', expected: 'A2', got: null, strand: 'a' },
      { kind: 'match', expected: 'B2', got: 'B2', strand: 'b' },
    ]);
  });

  it('shows both words of a wrong one', () => {
    expect(alignWords('A1 B1', 'A1 X')[1]).toEqual({ kind: 'wrong', expected: 'B1', got: 'X', strand: 'b' });
  });

  it('knows no strands in another task', () => {
    expect(alignWords('yes no', 'yes no', 'reply').map(({ strand }) => strand)).toEqual([null, null]);
  });
});

describe('alignCompletion', () => {
  it('scores as the reward does', () => {
    for (const completion of ['', 'x', target, `${target} and more`, 'the rain had nobody told him', 'the nobody']) {
      expect(alignCompletion(target, completion).score).toBe(alignmentReward(target, completion));
    }
    expect(alignCompletion('', '').score).toBe(1);
  });

  it('tells the first error as an index of the target, and none of an exact completion', () => {
    expect(alignCompletion(target, target).firstError).toBeNull();
    expect(alignCompletion(target, 'the nobody sun told had him').firstError).toBe(2);
    expect(alignCompletion(target, `${target} again`).firstError).toBe(6);
    expect(alignCompletion(target, '').firstError).toBe(0);
  });

  it('counts the words of each kind', () => {
    const { counts } = alignCompletion('A1 B1 A2 B2', 'A1 new B1 B2');
    expect(counts).toEqual({ match: 3, wrong: 0, missing: 1, extra: 1 });
  });
});

describe('strandOf', () => {
  it('gives the rest of the longer fragment to its own strand', () => {
    const strands = (a: number, b: number) => Array.from({ length: a + b }, (_, i) => strandOf(i, { a, b })).join('');
    expect(strands(1, 3)).toBe('abbb');
    expect(strands(4, 2)).toBe('ababaa');
    expect(strands(2, 2)).toBe('abab');
  });
});

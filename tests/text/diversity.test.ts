import { describe, expect, it } from 'vitest';
import { distance, ngramSets, setDiversity } from '../../main/text/diversity.ts';

const between = (a: string, b: string): number => distance(ngramSets(a), ngramSets(b));

describe('distance', () => {
  it('is 0 for the same words whatever their case and marks, 1 when nothing is shared', () => {
    expect(between('So true!', 'so TRUE')).toBe(0);
    expect(between('one two', 'three four five')).toBe(1);
    expect(between('', '')).toBe(0);
    expect(between('', 'word')).toBe(1);
  });

  it('sees what texts share in scripts without spaces', () => {
    expect(between('犬が好きです', '猫が好きです')).toBeLessThan(1);
  });

  it('averages the Dice distances of the orders', () => {
    // words 1 - 2*2/6 = 1/3; pairs 1 - 2*1/4 = 1/2; triples 1
    expect(between('a b c', 'a b d')).toBeCloseTo((1 / 3 + 1 / 2 + 1) / 3, 12);
  });
});

describe('setDiversity', () => {
  it('is the mean over pairs', () => {
    const set = ['a b', 'a b', 'c d'].map(ngramSets);
    expect(setDiversity(set)).toBeCloseTo(2 / 3, 12);
    expect(setDiversity(set.slice(0, 1))).toBe(0);
  });
});

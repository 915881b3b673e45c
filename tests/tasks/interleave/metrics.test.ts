import { describe, expect, it } from 'vitest';
import { measureCompletion, scoreByPosition } from '../../../main/tasks/interleave/metrics.ts';

const target = 'a1 b1 a2 b2';

describe('measureCompletion', () => {
  it.each([
    [target, { alignment: 1, exact_match: 1, first_error: 4, length_ratio: 1 }],
    [' a1\nb1  a2 b2 ', { alignment: 1, exact_match: 1, first_error: 4, length_ratio: 1 }],
    ['', { alignment: 0, exact_match: 0, first_error: 0, length_ratio: 0 }],
    ['a1 b1 x b2', { alignment: 3 / 4, exact_match: 0, first_error: 2, length_ratio: 1 }],
    ['a1 b1', { alignment: 1 / 2, exact_match: 0, first_error: 2, length_ratio: 1 / 2 }],
    ['a1 b1 a2 b2 a2', { alignment: 4 / 5, exact_match: 0, first_error: 4, length_ratio: 5 / 4 }],
  ])('of "%s"', (completion, measures) => {
    expect(measureCompletion(target, completion)).toEqual(measures);
  });
});

describe('measureCompletion of accents in two characters', () => {
  it('is that of the same words in one, whichever side has them', () => {
    const right = { alignment: 1, exact_match: 1, first_error: 2 };
    expect(measureCompletion('cafe\u0301 noir', 'café noir')).toMatchObject(right);
    expect(measureCompletion('café noir', 'cafe\u0301 noir')).toMatchObject(right);
  });
});

describe('scoreByPosition', () => {
  it('is the share of matched words at each position of the target', () => {
    const pairs = [
      { target, completion: target },
      { target, completion: 'a1 b1 x b2' },
      { target: 'a1 b1', completion: 'z a1 q' },
    ];
    expect(scoreByPosition(pairs)).toEqual([1, 2 / 3, 1 / 2, 1]);
  });

  it('of nothing is nothing', () => {
    expect(scoreByPosition([])).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import { append, largest, smallest } from '../main/lists.ts';

const many = Array.from({ length: 300_000 }, (_, i) => i);

describe('append', () => {
  it('adds more items than a call holds arguments', () => {
    const list = [7];
    append(list, many);
    expect([list.length, list.at(-1)]).toEqual([300_001, 299_999]);
  });
});

describe('largest and smallest', () => {
  it('find the extremes of as many numbers, with a bound for none', () => {
    expect([largest(many), smallest(many), largest([], 1), smallest([3], 0)]).toEqual([299_999, 0, 1, 0]);
  });
});

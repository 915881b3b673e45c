import { describe, expect, it } from 'vitest';
import { findLeakage } from '../../../main/services/datasets/index.ts';
import type { InterleaveRecord } from '../../../main/tasks/interleave/record.ts';

const record = (id: string, title_a: string, fragment_a: string, title_b: string, fragment_b: string) =>
  ({ id, words: 9, title_a, title_b, fragment_a, fragment_b, prompt: 'p', target: 't' }) satisfies InterleaveRecord;

const nine = 'one two three four five six seven eight nine';
const train = [record('r1', 'A', nine, 'B', 'red blue green pink grey black white brown gold')];

describe('findLeakage', () => {
  it('finds nothing where nothing is shared', () => {
    const test = [record('t1', 'C', 'un deux trois quatre cinq six sept huit neuf', 'D', 'one two three')];
    expect(findLeakage(train, test)).toEqual({ clean: true, shared_titles: [], overlaps: [] });
  });

  it('finds shared titles and runs of eight words, whatever their case', () => {
    const test = [record('t1', 'B', 'zero ONE two three four five six seven eight', 'D', 'x')];
    expect(findLeakage(train, test)).toEqual({
      clean: false,
      shared_titles: ['B'],
      overlaps: [{ test_id: 't1', train_id: 'r1', words: 'one two three four five six seven eight' }],
    });
  });

  it('passes over seven words', () => {
    const test = [record('t1', 'C', 'one two three four five six seven other', 'D', 'x')];
    expect(findLeakage(train, test).clean).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { parseJsonLines } from '../../main/io/json-lines.ts';
import { errorOf } from '../store/helpers.ts';

const words = { code: 'BAD', give: 'Give another.', fix: 'Fix these.', item: 'record' };

describe('parseJsonLines', () => {
  it('reads lines that are not empty, with their numbers', () => {
    expect(parseJsonLines('a', '\n1\r\n\n2', words, (value, line) => [value, line])).toEqual([
      [1, 2],
      [2, 4],
    ]);
  });

  it('reads no further than anybody reads its faults', () => {
    let parsed = 0;
    const parse = () => {
      parsed++;
      throw new Error('no');
    };
    expect(errorOf(() => parseJsonLines('a', '{}\n'.repeat(100_000), words, parse))).toMatchObject({
      message: expect.stringContaining('and at least 980 more'),
    });
    expect(parsed).toBe(1000);
  });

  it('has a limit of lines, and none of line ends', () => {
    const many = '1\n'.repeat(2_000_001);
    expect(errorOf(() => parseJsonLines('a', many, words, () => 1))).toMatchObject({
      message: expect.stringContaining('at most 2000000 records'),
    });
    expect(parseJsonLines('a', `${'\n'.repeat(3_000_000)}1`, words, (_, line) => line)).toEqual([3_000_001]);
  });
});

import { describe, expect, it } from 'vitest';
import { limitsOf } from '../../main/model/tokenizer-limits.ts';
import { fault } from './faults.ts';

const split = (Regex: string) => ({ pre_tokenizer: { type: 'Split', pattern: { Regex }, behavior: 'Isolated' } });

describe('limitsOf', () => {
  it('ends expressions of somebody that never end, by name', () => {
    const limited = limitsOf(split('^(a+)+$'), 'tokenizer.json', 50);
    const text = `${'a'.repeat(50)}!`;
    expect(fault(() => limited(text.length, () => /^(a+)+$/.test(text)))).toEqual([
      ...['BAD_TOKENIZER', expect.stringContaining('tokenizer.json: its regular expressions take more than')],
    ]);
    expect(limited(1, () => 'b'.split('a'))).toEqual(['b']);
  });

  it('refuses expressions of thousands of characters', () => {
    expect(fault(() => limitsOf(split('a'.repeat(10_001)), 'tokenizer.json'))[1]).toContain('at most 10000');
  });
});

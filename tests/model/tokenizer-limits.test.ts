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

  it('refuses replacements that double a text again and again', () => {
    const doubling = { type: 'Replace', pattern: { String: 'a' }, content: 'aa' };
    const normalizer = { type: 'Sequence', normalizers: Array(40).fill(doubling) };
    expect(fault(() => limitsOf({ normalizer }, 'tokenizer.json'))[1]).toContain('more than 1000 times as long');
    expect(() => limitsOf({ normalizer: { ...doubling, content: '▁' } }, 'tokenizer.json')).not.toThrow();
  });

  it('names the file where the library throws', () => {
    const limited = limitsOf({}, 'tokenizer.json');
    const parts: unknown = null;
    expect(fault(() => limited(1, () => (parts as string[]).length))).toEqual([
      ...['BAD_TOKENIZER', expect.stringContaining('tokenizer.json: not a readable tokenizer')],
    ]);
  });
});

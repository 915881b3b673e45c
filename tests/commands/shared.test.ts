import { describe, expect, it } from 'vitest';
import { wholeNumber } from '../../main/commands/shared.ts';

describe('wholeNumber', () => {
  it('says which limit a number is beyond', () => {
    expect(wholeNumber('--seed', '9007199254740991', 0)).toBe(9007199254740991);
    expect(() => wholeNumber('--seed', '9007199254740993', 0)).toThrow(
      'Expected --seed to be a whole number of at most 9007199254740991, got "9007199254740993"',
    );
    for (const value of ['-1', '1.5', 'x', '', '1e999'])
      expect(() => wholeNumber('--seed', value, 0)).toThrow(
        `Expected --seed to be a whole number of at least 0, got "${value}"`,
      );
  });
});

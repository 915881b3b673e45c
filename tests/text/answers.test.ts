import { describe, expect, it } from 'vitest';
import { arithmetic, jsonIn } from '../../main/text/answers.ts';

describe('jsonIn', () => {
  it('reads a whole text, a code block, or the outermost braces', () => {
    expect(jsonIn(' [1, 2] ')).toEqual([1, 2]);
    expect(jsonIn('Here:\n```json\n{"a": 1}\n```\nDone.')).toEqual({ a: 1 });
    expect(jsonIn('So {"a": {"b": 2}} it is')).toEqual({ a: { b: 2 } });
    expect(jsonIn('null')).toBeNull();
  });

  it('gives undefined for anything else', () => {
    expect(jsonIn('')).toBeUndefined();
    expect(jsonIn('{a: 1}')).toBeUndefined();
    expect(jsonIn('plain words')).toBeUndefined();
  });
});

describe('arithmetic', () => {
  it.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['-4 - -6', 2],
    ['8 / 4 / 2', 1],
    ['2 × (3 − 1) ÷ 4', 1],
    ['0.5*4', 2],
    ['.5*4', 2],
    [Array(150).fill('-1').join('+'), -150],
    ['-(2 - -3)*(1)', -5],
  ])('computes %s', (expression, value) => {
    expect(arithmetic(expression)).toBeCloseTo(value, 12);
  });

  it.each(['', '1 +', '(1', '1)', '1 2', 'x + 1', '1 / 0', '1 = 1', '('.repeat(1000), `${'-'.repeat(1000)}1`])(
    'refuses %s',
    (expression) => {
      expect(arithmetic(expression)).toBeNull();
    },
  );
});

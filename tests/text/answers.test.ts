import { describe, expect, it } from 'vitest';
import { arithmetic, jsonIn, lastNumber, numbersIn } from '../../main/text/answers.ts';

describe('numbersIn', () => {
  it('finds numbers with signs, thousands and decimals, and none inside words', () => {
    expect(numbersIn('It costs $1,234.50, not -3 or 7. See x2, v1.0b and 2nd; 12,5')).toEqual([1234.5, -3, 7, 12, 5]);
    expect(numbersIn('no digits')).toEqual([]);
  });

  it('reads decimals without a digit before the point', () => {
    expect(numbersIn('.5, -.25 or $.75; not x.5, ...5 or 1.2.3')).toEqual([0.5, -0.25, 0.75, 1.2]);
    expect(lastNumber('The answer is .5.')).toBe(0.5);
  });

  it('reads the minus of mathematics (U+2212) as the sign that it is', () => {
    expect(numbersIn('from \u22123 to \u22121,234.5')).toEqual([-3, -1234.5]);
    expect(lastNumber('The answer is \u22127.')).toBe(-7);
    expect(numbersIn('5\u22123')).toEqual(numbersIn('5-3'));
  });
});

describe('lastNumber', () => {
  it('takes the last one, with or without a full stop after it', () => {
    expect(lastNumber('First 3, then 4.')).toBe(4);
    expect(lastNumber('The answer is -12 000')).toBe(0);
    expect(lastNumber('none')).toBeNull();
  });
});

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

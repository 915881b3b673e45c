import { describe, expect, it } from 'vitest';
import { decimalMarkOf, lastNumber, numbersIn, solutionNumber, wholeNumberText } from '../../main/text/numbers.ts';

describe('numbersIn', () => {
  it('finds numbers with signs, thousands and decimals, and none inside words', () => {
    expect(numbersIn('It costs $1,234.50, not -3 or 7. See x2, v1.0b and 2nd; 12,5')).toEqual([1234.5, -3, 7, 12.5]);
    expect(numbersIn('no digits, COVID-19, 25 cm^2')).toEqual([25]);
  });

  it('reads decimals without a digit before the point', () => {
    expect(numbersIn('.5, -.25 or $.75; not x.5, ...5 or 1.2.3')).toEqual([0.5, -0.25, 0.75]);
  });

  it('reads the digits of any script', () => {
    expect(numbersIn('٤٢ و ١٬٢٣٤٫٥, ۴۲, ४२, ๔๒, ４２')).toEqual([42, 1234.5, 42, 42, 42, 42]);
  });

  it('reads the minus of mathematics (U+2212) as the sign that it is', () => {
    expect(numbersIn('from \u22123 to \u22121,234.5')).toEqual([-3, -1234.5]);
    expect(numbersIn('5\u22123')).toEqual(numbersIn('5-3'));
  });

  it('gives the parts of expressions and lists', () => {
    expect(numbersIn('8/2+1*(25-7)')).toEqual([8, 2, 1, 25, 7]);
    expect(numbersIn('[25,3] 1,2,3 (1,234)')).toEqual([25, 3, 1, 2, 3, 1234]);
    expect(numbersIn('25 100 50')).toEqual([25, 100, 50]);
  });
});

describe('lastNumber', () => {
  it.each([
    ['First 3, then 4.', 4],
    ['The answer is -12 000', -12000],
    ['#### 1,080', 1080],
    ['It is 2,5', 2.5],
    ['1.234,56', 1234.56],
    ['1 234,56 €', 1234.56],
    ["1'234.50", 1234.5],
    ['1.234.567', 1234567],
    ['12,34,567', 1234567],
    ['1_000', 1000],
    ['3/4', 0.75],
    ['-3 / 4', -0.75],
    ['2 1/2 cups', 2.5],
    ['2½', 2.5],
    [String.raw`\boxed{-\frac{3}{4}}`, -0.75],
    ['1{,}234', 1234],
    ['10^6', 1e6],
    ['2×10⁻³', 0.002],
    ['1.5e-3', 0.0015],
    ['-$5', -5],
    ['x = - 5', -5],
    ['-$ 5', -5],
    ['75%', 75],
    ['5.1 million', 5100000],
    ['５万', 50000],
    ['答案是42。', 42],
    ['25 m²', 25],
    ['5km', 5],
    ['so 5, in the 2nd x2', 5],
  ])('reads %s', (text, value) => expect(lastNumber(text)).toBeCloseTo(value, 9));

  it.each([
    ...[
      'none',
      '2024-05-01',
      '01/05/2024',
      'May 5, 2024',
      '12:30',
      '5 pm',
      '1.2.3',
      '192.168.1.1',
      '3-5',
      '3–5',
      '3:2',
    ],
    ...[
      '1,2,3',
      '(1,2)',
      '5 ± 1',
      '5√3',
      String.raw`5\sqrt{3}`,
      String.raw`2\pi`,
      '5k',
      '0x1F',
      '1/0',
      'COVID-19',
      '12,345,6',
    ],
    // A number that was rounded would equal others.
    ...['9007199254740993', '18446744073709551614', '9007199254740991.4'],
  ])('reads no number in %s', (text) => expect(lastNumber(text)).toBeNull());

  it('takes linear time', () => {
    const began = performance.now();
    for (const part of ['1 ', '1,', '1 111 ', '\\frac{1', '-', '^ ']) lastNumber(part.repeat(20_000));
    expect(performance.now() - began).toBeLessThan(1000);
  });
});

describe('wholeNumberText', () => {
  it('reads cells that are a number, with a currency or a unit, and nothing else', () => {
    expect(['2,5', '€ 1.000,50', '5 km', '-3', ' 7 '].map((text) => wholeNumberText(text))).toEqual([
      2.5, 1000.5, 5, -3, 7,
    ]);
    for (const text of ['(5)', '3 - 5', '--5', '- 5', '-USD 5', '5-', 'so 72', 'May 5', ''])
      expect(wholeNumberText(text), text).toBeNull();
  });
});

describe('decimalMarkOf', () => {
  it('sees the mark where only one reading is possible, by which others are read', () => {
    expect(['1.234,5', '2,5', '0,750', '1.234.567'].map(decimalMarkOf)).toEqual([',', ',', ',', ',']);
    expect(['1,234.5', '2.5', '0.750', '1,234,567'].map(decimalMarkOf)).toEqual(['.', '.', '.', '.']);
    expect(['1,234', '1.234', '7', 'x'].map(decimalMarkOf)).toEqual([null, null, null, null]);
    expect([lastNumber('1.234', ','), lastNumber('1,234', ',')]).toEqual([1234, 1.234]);
  });
});

describe('a text of one character', () => {
  it.each([
    ['backslashes', '\\'.repeat(60_000), null],
    ['zeros after the point', `9999999999.${'0'.repeat(60_000)}1`, null],
    ['digits before two marks', `${'1'.repeat(60_000)},1,1`, null],
  ])('is read within a second: %s', (_, text, expected) => {
    const began = performance.now();
    expect(lastNumber(text)).toBe(expected);
    expect(performance.now() - began).toBeLessThan(1000);
  });
});

describe('solutionNumber', () => {
  it.each([
    ['3 + 4 = <<3+4=7>>7\n#### 1,234\n(page 5)', 1234],
    ['#### Step 2: 4 by 5\nThe answer is 20.', 20],
    ['So \\boxed{12} by theorem 3.', 12],
    ['\\boxed{3}, no: \\boxed{\\frac{1}{2}} of 7', 0.5],
    ['\\boxed{x = 5} in 2 ways', 5],
    ['The point is \\boxed{(3, 4)}', null],
    ['no box, 8', 8],
  ])('of %j', (text, value) => expect(solutionNumber(text)).toBe(value));
});

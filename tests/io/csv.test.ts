import { describe, expect, it } from 'vitest';
import { csvText } from '../../main/io/csv.ts';

describe('csvText', () => {
  it('quotes what would break a row, and writes NaN as an empty field', () => {
    expect(
      csvText([
        ['a', 'b'],
        ['x, "y"\nz', Number.NaN],
        [1.5, Number.POSITIVE_INFINITY],
      ]),
    ).toBe('a,b\n"x, ""y""\nz",\n1.5,\n');
  });

  it('keeps a spreadsheet from running text as a formula', () => {
    expect(csvText([['=HYPERLINK("x", "y")', '+1 plus', '-a', '@SUM(A1)', '\t=1', 'a=b', '-0.5', -0.5]])).toBe(
      `"'=HYPERLINK(""x"", ""y"")",'+1 plus,'-a,'@SUM(A1),'\t=1,a=b,-0.5,-0.5\n`,
    );
  });
});

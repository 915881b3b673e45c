import { describe, expect, it } from 'vitest';
import { parseCsv } from '../../main/io/csv-rows.ts';

describe('parseCsv', () => {
  it('reads quoted fields with separators, quotation marks and line breaks, and knows where each row begins', () => {
    expect(parseCsv('a,b\r\n"x, ""y""\nz",2\n\n3,"4"\n')).toEqual([
      { line: 1, fields: ['a', 'b'] },
      { line: 2, fields: ['x, "y"\nz', '2'] },
      { line: 5, fields: ['3', '4'] },
    ]);
  });

  it('takes the separator that the first line has most of', () => {
    expect(parseCsv('a;b;c,d\n1;2;3').map(({ fields }) => fields)).toEqual([
      ['a', 'b', 'c,d'],
      ['1', '2', '3'],
    ]);
    expect(parseCsv('a\tb\n1\t2')[1]?.fields).toEqual(['1', '2']);
  });

  it('keeps empty fields, and reports a quotation mark that is never closed', () => {
    expect(parseCsv('a,b\n,\n')[1]?.fields).toEqual(['', '']);
    expect(() => parseCsv('a\n"b')).toThrow("the quotation mark of the row on line 2 isn't closed");
  });
});

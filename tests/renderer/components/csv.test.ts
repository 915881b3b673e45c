import { describe, expect, it } from 'vitest';
import { csvText } from '../../../renderer/components/csv.ts';

describe('csvText', () => {
  it('quotes what needs it, and keeps a spreadsheet from taking a name for a formula', () => {
    expect(csvText([['a "b", c', 1, null, Number.NaN]])).toBe('"a ""b"", c",1,,\r\n');
    expect(csvText([['=1+1'], ['-x'], [-1]])).toBe("'=1+1\r\n'-x\r\n-1\r\n");
  });
});

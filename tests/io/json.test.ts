import { describe, expect, it } from 'vitest';
import { parseJsonExactly, parseRecordJson } from '../../main/io/json.ts';

describe('parseJsonExactly', () => {
  it('keeps the digits of numbers that would be rounded, and every other number', () => {
    expect(
      parseJsonExactly('[18446744073709551615, -9007199254740993.5, 1.8446744073709552e19, 0.1234567890123456]'),
    ).toEqual(['18446744073709551615', '-9007199254740993.5', 1.8446744073709552e19, 0.1234567890123456]);
    expect(parseJsonExactly('[100000000000000000000]')).toEqual([1e20]);
  });
});

describe('parseRecordJson', () => {
  it("keeps them in a record's own fields, and refuses them inside lists and objects", () => {
    expect(parseRecordJson('{"id": 1730000000000000001}')).toEqual({ id: '1730000000000000001' });
    for (const inside of ['[["2**64", 18446744073709551615]]', '{"a": 18446744073709551615}'])
      expect(() => parseRecordJson(`{"tests": ${inside}}`)).toThrow(
        '18446744073709551615 inside a list or object is more than 9007199254740991',
      );
  });
});

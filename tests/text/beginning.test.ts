import { describe, expect, it } from 'vitest';
import { beginning } from '../../main/text/beginning.ts';
import * as page from '../../renderer/components/beginning.ts';

describe('beginning', () => {
  it.each([
    ['plain words', 5, 'plain'],
    ['ab', 2, 'ab'],
    ['ab👍🏽cd', 3, 'ab'],
    ['ab👍🏽cd', 5, 'ab'],
    ['ab👍🏽cd', 6, 'ab👍🏽'],
    ['x👩‍👩‍👧‍👦y', 9, 'x'],
    ['cafe\u0301s', 4, 'caf'],
    ['𠮷野家', 3, '𠮷野'],
    ['👩‍👩‍👧‍👦', 1, ''],
    [`a${'\u0301'.repeat(99)}`, 3, 'a\u0301\u0301'],
  ])('cuts %j at %i, and no character in two', (text, most, expected) => {
    expect(beginning(text, most)).toBe(expected);
    expect(page.beginning(text, most)).toBe(expected);
  });
});

import { describe, expect, it } from 'vitest';
import { visible, visibleJson } from '../../main/text/visible.ts';

const CLEAR = '\u001b[2J\u009b8m';
const REVERSED = '\u202e\u2066';

describe('visible', () => {
  it('escapes what controls a terminal or turns a line around, and keeps lines, tabs and letters of any script', () => {
    expect(visible(`a${CLEAR}\tb\r\nc\rd${REVERSED}`)).toBe('a\\u001b[2J\\u009b8m\tb\nc\nd\\u202e\\u2066');
    expect(visible('שלום, 你好 👩‍🔬 é')).toBe('שלום, 你好 👩‍🔬 é');
  });
});

describe('visibleJson', () => {
  it('gives JSON of the same value, with escapes', () => {
    const value = { [`k${REVERSED}`]: `a${CLEAR}\u2028` };
    const text = visibleJson(value);
    expect(JSON.parse(text)).toEqual(value);
    expect(visible(text.replace('\u2028', ''))).toBe(text.replace('\u2028', ''));
  });
});

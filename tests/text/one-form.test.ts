import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { oneForm } from '../../main/text/one-form.ts';

describe('oneForm', () => {
  it.each([
    ['soft hyphens', 'co\u00adope\u00adrate', 'cooperate'],
    ['zero-width spaces and joiners between Latin letters', 'a\u200bb\u200cc\u200dd\u2060e\ufefff', 'abcdef'],
    ['marks of direction', '\u202aa\u202c \u200eb\u200f \u2066c\u2069', 'a b c'],
    ['kinds of spaces', 'a\u00a0b\u202fc\u3000d\u2009e\u2800f', 'a b c d e f'],
    ['line ends', 'a\r\nb\rc\u2028d\u2029e\vf', 'a\nb\nc\nd\n\ne\nf'],
    ['decomposed accents', 'cafe\u0301 A\u030a', 'caf\u00e9 \u00c5'],
    ['accents behind something invisible', 'e\u200b\u0301', '\u00e9'],
    ['ligatures', 'e\ufb03cient \ufb01re \ufb02y o\ufb00 be\ufb06 \u0132s', 'efficient fire fly off best IJs'],
    ['presentation forms of Arabic and Hebrew', '\ufefb \ufeb3 \ufb4b', '\u0644\u0627 \u0633 \u05d5\u05b9'],
    ['control characters and marks of objects', 'a\u0007b\ufffcc\u0090d', 'abcd'],
    ['hidden text of tags', 'a\u{e0068}\u{e0069}', 'a'],
    ['variation selectors after letters, or in a row', 'a\ufe0f \u2764\ufe0f\ufe0f', 'a \u2764\ufe0f'],
    ['Hangul fillers', 'a\u3164b \u115f', 'a b '],
  ])('takes out or replaces %s', (_, text, form) => {
    expect(oneForm(text)).toBe(form);
    expect(oneForm(form)).toBe(form);
  });

  it.each([
    ['ZWNJ in Persian', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'],
    ['ZWNJ and ZWJ in Hindi', '\u0915\u094d\u200c\u0937 \u0915\u094d\u200d\u0937'],
    ['a final ZWJ in Malayalam', '\u0d28\u0d4d\u200d '],
    [
      'emoji that are joined, coloured or have a form',
      '\u{1f469}\u{1f3fd}\u200d\u{1f4bb} \u2764\ufe0f\u200d\u{1f525} 1\ufe0f\u20e3',
    ],
    ['the flag of England', '\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}'],
    ['variants of Han characters', '\u845b\u{e0100}'],
    ['old Hangul with fillers', '\u115f\u1161'],
    ['a phrase in one character', '\ufdfa'],
  ])('keeps %s', (_, text) => {
    expect(oneForm(text)).toBe(text);
  });

  it.each(['source_texts', 'longer_texts'])('leaves the bundled %s as they are', (name) => {
    const file = join(import.meta.dirname, `../../datasets/${name}.json`);
    const texts = JSON.parse(readFileSync(file, 'utf8')) as { text: string }[];
    for (const { text } of texts) expect(oneForm(text)).toBe(text);
  });
});

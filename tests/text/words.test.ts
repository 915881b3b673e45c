import { describe, expect, it } from 'vitest';
import { countWords, normalizeText, splitWords } from '../../main/text/words.ts';

describe('splitWords', () => {
  it('splits on every Unicode white space and drops empty ends', () => {
    expect(splitWords('  one\ttwo\u00a0three\u2003four\u0085five\n\nsix ')).toEqual([
      'one',
      'two',
      'three',
      'four',
      'five',
      'six',
    ]);
  });

  it('keeps punctuation, joiners and byte-order marks inside words', () => {
    expect(splitWords("don't stop—now \ufeffx a\u200db")).toEqual(["don't", 'stop—now', '\ufeffx', 'a\u200db']);
  });

  it('composes them: accents are the same in one character and in two', () => {
    expect(splitWords('cafe\u0301 A\u030angstro\u0308m \u1112\u1161\u11ab')).toEqual(['café', 'Ångström', '한']);
  });

  it('counts no word of which nothing is visible', () => {
    expect(splitWords('a \u200b \u00ad\u2060 \ufeff \u200e \u3164 \ufe0f b')).toEqual(['a', 'b']);
  });

  it('finds no words in nothing', () => {
    expect(splitWords('')).toEqual([]);
    expect(splitWords(' \n')).toEqual([]);
  });
});

describe('countWords', () => {
  it('counts', () => {
    expect(countWords('a b\nc')).toBe(3);
  });
});

describe('normalizeText', () => {
  it('makes case, spacing and Unicode composition irrelevant', () => {
    expect(normalizeText('  Cafe\u0301\n AND  tea ')).toBe(normalizeText('caf\u00e9 and TEA'));
  });
});

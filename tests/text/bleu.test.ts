import { describe, expect, it } from 'vitest';
import { selfBleu, sentenceBleu } from '../../main/text/bleu.ts';

const words = (text: string): string[] => text.split(' ');

describe('sentenceBleu', () => {
  it('is 1 for a copy, 0 without a common word or for nothing', () => {
    expect(sentenceBleu([words('a b c d')], words('a b c d'))).toBeCloseTo(1, 12);
    expect(sentenceBleu([words('a b c')], words('x y z'))).toBe(0);
    expect(sentenceBleu([words('a')], [])).toBe(0);
    expect(sentenceBleu([], words('a'))).toBe(0);
  });

  it('counts an order without a match as a tenth of one', () => {
    // one of two words; no pair of one: sqrt(1/2 * 0.1/1)
    expect(sentenceBleu([words('a c')], words('a b'), 2)).toBeCloseTo(Math.sqrt(0.05), 12);
  });
});

describe('selfBleu', () => {
  it('is 1 when all are alike and unknown for one text', () => {
    expect(selfBleu([words('a b c'), words('a b c')])).toBeCloseTo(1, 12);
    expect(selfBleu([words('a b c')])).toBeNaN();
  });
});

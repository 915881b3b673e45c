/** How near the meanings of texts are, by a sentence encoder. */
import { loadSentenceEncoder } from './sentence-encoder.ts';

/** Two texts; the first may recur, as posts and references do in each epoch. */
export type TextPair = readonly [recurring: string, other: string];

export interface TextCosine {
  /** The cosine of each pair, -1 to 1. Each different text is encoded once, all at a time; vectors that recur are kept. */
  cosines(pairs: readonly TextPair[]): number[];
  dispose(): void;
}

/** Vectors that are kept. */
const KEPT = 4096;

/** Loads the encoder of a folder onto the current backend. */
export function openTextCosine(folder: string): TextCosine {
  const encoder = loadSentenceEncoder(folder);
  const kept = new Map<string, Float32Array>();
  return {
    cosines: (pairs) => {
      const recurring = new Set(pairs.map(([text]) => text));
      const texts = [...new Set(pairs.flat())].filter((text) => !kept.has(text));
      const encoded = encoder.encode(texts);
      const made = new Map(texts.map((text, i) => [text, encoded[i] ?? new Float32Array()]));
      const vectorOf = (text: string): Float32Array => kept.get(text) ?? made.get(text) ?? new Float32Array();
      const all = pairs.map(([a, b]) => dot(vectorOf(a), vectorOf(b)));
      for (const [text, vector] of made) if (recurring.has(text) && kept.size < KEPT) kept.set(text, vector);
      return all;
    },
    dispose: encoder.dispose,
  };
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

/** How near the meanings of two texts are, by a sentence encoder. */
import { loadSentenceEncoder } from './sentence-encoder.ts';

export interface TextCosine {
  /** The cosine of two texts, -1 to 1. The vector of a `recurring` one is kept: posts and references recur each epoch. */
  cosine(recurring: string, other: string): number;
  dispose(): void;
}

/** Vectors that are kept. */
const KEPT = 4096;

/** Loads the encoder of a folder onto the current backend. */
export function openTextCosine(folder: string): TextCosine {
  const encoder = loadSentenceEncoder(folder);
  const known = new Map<string, Float32Array>();
  const vectorOf = (text: string): Float32Array => {
    const vector = known.get(text) ?? encoder.encode(text);
    if (known.size < KEPT) known.set(text, vector);
    return vector;
  };
  return {
    cosine: (recurring, other) => {
      const [a, b] = [vectorOf(recurring), encoder.encode(other)];
      return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
    },
    dispose: encoder.dispose,
  };
}

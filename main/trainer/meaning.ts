/** How alike two texts mean, by sentence embeddings: the relevance of replies where an encoder is given. */
import { loadSentenceEncoder } from '../model/sentence-encoder.ts';
import type { TextSimilarity } from '../tasks/task.ts';

/** From this cosine on, two texts count as being about the same. */
const FULL_COSINE = 0.6;
/** Vectors kept: the posts of a dataset come again each epoch. */
const KEPT = 4096;

export interface Meaning {
  readonly similarity: TextSimilarity;
  dispose(): void;
}

/** Opens the encoder of a folder; the cosine is full from 0.6 on, and never below 0. */
export function openMeaning(folder: string): Meaning {
  const encoder = loadSentenceEncoder(folder);
  const known = new Map<string, Float32Array>();
  const vectorOf = (text: string): Float32Array => {
    const vector = known.get(text) ?? encoder.encode(text);
    if (known.size < KEPT) known.set(text, vector);
    return vector;
  };
  return {
    similarity: (a, b) => {
      const [left, right] = [vectorOf(a), vectorOf(b)];
      const cosine = left.reduce((sum, value, i) => sum + value * (right[i] ?? 0), 0);
      return Math.min(1, Math.max(0, cosine / FULL_COSINE));
    },
    dispose: encoder.dispose,
  };
}

/** Semantic similarity by sentence embeddings: the relevance of replies if an encoder is configured. */
import { loadSentenceEncoder } from '../../model/sentence-encoder.ts';
import type { TextSimilarity } from '../../tasks/task.ts';

/** Texts with at least this cosine count as being about the same subject. */
const FULL_COSINE = 0.6;
/** Cached vectors: the posts of a dataset recur each epoch. */
const KEPT = 4096;

export interface Meaning {
  readonly similarity: TextSimilarity;
  dispose(): void;
}

/** Opens the encoder in a folder; similarity is 1 from a cosine of 0.6, and never below 0. */
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

/** Semantic similarity by sentence embeddings: the relevance of replies if an encoder is configured. */
import { openTextCosine } from '../../model/encoder/text-cosine.ts';
import type { TextSimilarity } from '../../tasks/task.ts';

/** Texts with at least this cosine count as being about the same subject. */
const FULL_COSINE = 0.6;

export interface Meaning {
  readonly similarity: TextSimilarity;
  dispose(): void;
}

/** Opens the encoder in a folder; similarity is 1 from a cosine of 0.6, and never below 0. */
export function openMeaning(folder: string): Meaning {
  const { cosines, dispose } = openTextCosine(folder);
  const similarity: TextSimilarity = (pairs) =>
    cosines(pairs).map((cosine) => Math.min(1, Math.max(0, cosine / FULL_COSINE)));
  return { similarity, dispose };
}

/** Near duplicates within the corpus, and two texts compared word by word. */
import { textHash } from '../../store/texts.ts';
import { shingleIndex } from '../../text/near-duplicates.ts';
import { type DiffRun, diffWords } from '../../text/word-diff.ts';
import type { SourceText } from '../texts/source-text.ts';
import type { TaskContext } from './messages.ts';

export interface SimilarInput {
  readonly corpus: readonly SourceText[];
  /** Pairs of hashes that the user keeps. */
  readonly kept: readonly (readonly [string, string])[];
}

/** Two texts of the corpus that nearly repeat each other. */
export interface SimilarPair {
  readonly first: number;
  readonly second: number;
  /** Shared word shingles / those of the shorter text. */
  readonly similarity: number;
}

/** Finds the near duplicates that the user hasn't decided about, the most similar first. */
export function findSimilar({ corpus, kept }: SimilarInput, context: TaskContext): SimilarPair[] {
  const index = shingleIndex();
  const keptKeys = new Set(kept.map((pair) => pair.join()));
  const hashes = keptKeys.size === 0 ? [] : corpus.map(({ text }) => textHash(text));
  const isKept = (i: number, k: number): boolean => {
    const [one = '', other = ''] = [hashes[i], hashes[k]];
    return keptKeys.has([one, other].join()) || keptKeys.has([other, one].join());
  };
  const pairs = corpus.flatMap(({ id, text }, i) => {
    context.progress({ done: i, total: corpus.length, unit: 'texts' });
    const found = index.nearDuplicates(text).filter(({ index: k }) => !isKept(i, k));
    index.add(text);
    return found.map(({ index: k, containment }) => ({
      first: Number(corpus[k]?.id),
      second: Number(id),
      similarity: containment,
    }));
  });
  return pairs.sort((a, b) => b.similarity - a.similarity || a.second - b.second);
}

/** Compares two texts. */
export function compareWords({ first, second }: { readonly first: string; readonly second: string }): DiffRun[] {
  return diffWords(first, second);
}

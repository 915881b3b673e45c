/** Whether the texts are sufficient for a stage, and what is missing if not. */
import type { CorpusText } from '../texts/source-text.ts';
import { splitTexts } from './split.ts';

/** The stages of the curriculum, in words per fragment. */
export const curriculumWords = [10, 25, 50, 100, 200, 500] as const;

/** How many pairs a dataset should have. */
export interface PairCounts {
  readonly train: number;
  readonly test: number;
}

export const defaultPairs: PairCounts = { train: 512, test: 64 };

/** What the texts provide for a stage; field names as in `--json`. */
export interface StageSupply {
  readonly words: number;
  /** Texts of at least that many words. */
  readonly texts: number;
  readonly training_texts: number;
  readonly test_texts: number;
  /** Distinct pairs of fragments available on each side. */
  readonly training_pairs: number;
  readonly test_pairs: number;
  /** Texts to add so that each side has two. */
  readonly missing_texts: number;
  /** Alternatively, words to add to the longest texts that are too short. */
  readonly missing_words: number;
  /** Why the texts aren't sufficient, in a sentence; null if they are. */
  readonly shortage: string | null;
}

/** Two texts on each side: a pair needs two, and the sides share none. */
const NEEDED_TEXTS = 4;

/** Texts that are long enough for a fragment of that many words. */
export function longEnough(texts: readonly CorpusText[], words: number): CorpusText[] {
  return texts.filter((text) => text.words >= words);
}

/** Distinct ordered pairs of fragments from two different texts. */
export function pairCapacity(texts: readonly CorpusText[], words: number): number {
  const offsets = longEnough(texts, words).map((text) => text.words - words + 1);
  const sum = offsets.reduce((total, n) => total + n, 0);
  return sum * sum - offsets.reduce((total, n) => total + n * n, 0);
}

/** What the texts provide for a stage under the split of that seed. */
export function stageSupply(texts: readonly CorpusText[], words: number, pairs: PairCounts, seed: number): StageSupply {
  const { train, test } = splitTexts(texts, seed);
  const serving = longEnough(texts, words).length;
  const missing = Math.max(0, NEEDED_TEXTS - serving);
  const supply = {
    words,
    texts: serving,
    training_texts: longEnough(train, words).length,
    test_texts: longEnough(test, words).length,
    training_pairs: pairCapacity(train, words),
    test_pairs: pairCapacity(test, words),
    missing_texts: missing,
    missing_words: missingWords(texts, words, missing),
  };
  return { ...supply, shortage: shortageOf(supply, pairs) };
}

function missingWords(texts: readonly CorpusText[], words: number, missing: number): number {
  const tooShort = texts.map((text) => text.words).filter((n) => n < words);
  const nearest = tooShort.sort((a, b) => b - a);
  let sum = 0;
  for (let i = 0; i < missing; i++) sum += words - (nearest[i] ?? 0);
  return sum;
}

function shortageOf(supply: Omit<StageSupply, 'shortage'>, asked: PairCounts): string | null {
  const { words } = supply;
  if (supply.missing_texts > 0)
    return `${words} words: expected at least ${NEEDED_TEXTS} texts of ${words} words or more, got ${supply.texts}; add ${supply.missing_texts} such ${supply.missing_texts === 1 ? 'text' : 'texts'}, or ${supply.missing_words} words to the longest of the others`;
  for (const [side, capacity, count] of [
    ['training', supply.training_pairs, asked.train],
    ['test', supply.test_pairs, asked.test],
  ] as const)
    if (capacity < count)
      return `${words} words: expected ${count} different ${side} pairs, but the texts allow only ${capacity}; add longer texts, or reduce the number of pairs`;
  return null;
}

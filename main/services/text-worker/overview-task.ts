/** The corpus against the stages, with the side of the split that each text is on. */

import { type CorpusStats, corpusStats } from '../datasets/corpus-stats.ts';
import { splitTexts } from '../datasets/split.ts';
import type { PairCounts } from '../datasets/supply.ts';
import { corpusText, type SourceText } from '../texts/source-text.ts';

export interface OverviewInput {
  readonly texts: readonly SourceText[];
  readonly pairs: PairCounts;
  readonly seed: number;
  /** Word counts to ask about; default: the curriculum's. */
  readonly stages?: readonly number[] | undefined;
}

export interface CorpusOverview extends CorpusStats {
  /** Words of each text, shortest first. */
  readonly lengths: readonly number[];
  /** Ids of the texts that are held out for testing under that seed. */
  readonly testing: readonly number[];
}

/** Counts, lengths, and what each stage has and needs. */
export function overview({ texts, pairs, seed, stages }: OverviewInput): CorpusOverview {
  const corpus = texts.map(corpusText);
  return {
    ...corpusStats(corpus, { ...pairs, seed, ...(stages !== undefined && { stages }) }),
    lengths: corpus.map(({ words }) => words).sort((a, b) => a - b),
    testing: splitTexts(corpus, seed).test.map(({ id }) => Number(id)),
  };
}

/** How much text there is, and which stages it is sufficient for. */
import { quantile } from '../../text/intervals.ts';
import { isUnspaced } from '../../text/source-words.ts';
import type { CorpusText } from '../texts/source-text.ts';
import { curriculumWords, defaultPairs, type PairCounts, type StageSupply, stageSupply } from './supply.ts';

/** The corpus in numbers. */
export interface CorpusStats {
  readonly texts: number;
  readonly words: number;
  readonly shortest: number;
  readonly median: number;
  readonly longest: number;
  /** Texts in which words are found by Unicode's segmentation, because their script has no spaces between them. */
  readonly unspaced: number;
  readonly stages: readonly StageSupply[];
}

export interface StatsOptions extends Partial<PairCounts> {
  /** Word counts to ask about; the curriculum's by default. */
  readonly stages?: readonly number[];
  readonly seed?: number;
}

/** Word counts, and for each stage how many texts are long enough and what is missing. */
export function corpusStats(texts: readonly CorpusText[], options: StatsOptions = {}): CorpusStats {
  const lengths = texts.map((text) => text.words).sort((a, b) => a - b);
  const pairs = { train: options.train ?? defaultPairs.train, test: options.test ?? defaultPairs.test };
  return {
    texts: texts.length,
    words: lengths.reduce((sum, words) => sum + words, 0),
    shortest: lengths[0] ?? 0,
    median: lengths.length === 0 ? 0 : quantile(lengths, 0.5),
    longest: lengths.at(-1) ?? 0,
    unspaced: texts.filter(({ text }) => isUnspaced(text)).length,
    stages: (options.stages ?? curriculumWords).map((words) => stageSupply(texts, words, pairs, options.seed ?? 42)),
  };
}

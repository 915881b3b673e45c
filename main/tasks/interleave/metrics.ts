/** Metrics of one completion, and of many by word position. */
import { alignmentScore, alignWords } from '../../text/alignment.ts';
import { splitWords } from '../../text/words.ts';

/** Measures of one completion against its target. */
export interface CompletionMeasures extends Readonly<Record<string, number>> {
  /** Matched words / the longer length. */
  readonly alignment: number;
  /** 1 if the words are exactly the target's, otherwise 0. */
  readonly exact_match: number;
  /** Index of the first word that is not the target's; the number of target words when there is none. */
  readonly first_error: number;
  /** Words in the completion / words in the target. */
  readonly length_ratio: number;
}

/** Measures one completion. */
export function measureCompletion(target: string, completion: string): CompletionMeasures {
  const wanted = splitWords(target);
  const got = splitWords(completion);
  const alignment = alignmentScore(wanted, got);
  // The alignment matches a common beginning word by word, so its first non-match is the first difference.
  const at = wanted.findIndex((word, i) => word !== got[i]);
  return {
    alignment,
    exact_match: alignment === 1 ? 1 : 0,
    first_error: at < 0 ? wanted.length : at,
    length_ratio: got.length / wanted.length,
  };
}

/** A target and the model's completion. */
export interface ScoredPair {
  readonly target: string;
  readonly completion: string;
}

/** At each word position of the targets, the share of completions that matched the word there. */
export function scoreByPosition(pairs: readonly ScoredPair[]): number[] {
  const matched: number[] = [];
  const total: number[] = [];
  for (const { target, completion } of pairs) {
    for (const column of alignWords(splitWords(target), splitWords(completion))) {
      if (column.kind === 'extra') continue;
      total[column.target] = (total[column.target] ?? 0) + 1;
      matched[column.target] = (matched[column.target] ?? 0) + (column.kind === 'match' ? 1 : 0);
    }
  }
  return total.map((count, position) => (matched[position] ?? 0) / count);
}

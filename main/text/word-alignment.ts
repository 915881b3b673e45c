/** A completion against its target word by word, as a page shows it: what each word is, and whose strand it is of. */
import { type AlignedKind, alignWords as alignmentOf } from './alignment.ts';
import { splitWords } from './words.ts';

export type Strand = 'a' | 'b';

/** One word of an alignment. A match has both words, a missing one only the expected, an extra one only the got. */
export interface AlignedWord {
  readonly kind: AlignedKind;
  readonly expected: string | null;
  readonly got: string | null;
  /** Of the expected word; null for an extra word and where a task has no strands. */
  readonly strand: Strand | null;
}

export interface WordAlignment {
  readonly words: readonly AlignedWord[];
  /** Matched words / the longer length. */
  readonly score: number;
  /** Index in the target of the first word that is not right; null where all are. */
  readonly firstError: number | null;
  readonly counts: Readonly<Record<AlignedKind, number>>;
}

/** How many words each of the two fragments has; not needed if they are equal. */
export interface FragmentLengths {
  readonly a: number;
  readonly b: number;
}

/** The words of an optimal alignment in reading order; its matches are the ones that the reward counts. */
export function alignWords(target: string, completion: string, task = 'interleave'): readonly AlignedWord[] {
  return alignCompletion(target, completion, task).words;
}

/** The same with what is read off it: the score, the first error, how many words are of each kind. */
export function alignCompletion(
  target: string,
  completion: string,
  task = 'interleave',
  fragments?: FragmentLengths,
): WordAlignment {
  const columns = alignmentOf(splitWords(target), splitWords(completion));
  const counts = { match: 0, wrong: 0, missing: 0, extra: 0 };
  for (const { kind } of columns) counts[kind]++;
  const { match, wrong, missing, extra } = counts;
  const longer = match + wrong + Math.max(missing, extra);
  return {
    words: columns.map(({ kind, target: position, expected, got }) => {
      const strand = kind === 'extra' || task !== 'interleave' ? null : strandOf(position, fragments);
      return { kind, expected, got, strand };
    }),
    score: longer === 0 ? 1 : match / longer,
    firstError: columns.find(({ kind }) => kind !== 'match')?.target ?? null,
    counts,
  };
}

/** Strand of a word of an interleaved target: in turn as long as both fragments last, then the longer one's rest. */
export function strandOf(position: number, fragments?: FragmentLengths): Strand {
  const shared = fragments === undefined ? Number.POSITIVE_INFINITY : 2 * Math.min(fragments.a, fragments.b);
  if (position < shared) return position % 2 === 0 ? 'a' : 'b';
  return fragments !== undefined && fragments.b > fragments.a ? 'b' : 'a';
}

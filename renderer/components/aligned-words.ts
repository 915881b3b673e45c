/** Counts, summaries and folding for the aligned-words view. Pure. */
import type { AlignedWord } from '../../main/api/contract/index.ts';

export type WordKind = AlignedWord['kind'];

/** In the order of the legend. */
export const wordKinds: readonly WordKind[] = ['match', 'wrong', 'missing', 'extra'];

/** Words shown of a long text before it is expanded. */
const FOLDED_WORDS = 80;

/** The number of words of each kind. */
export function countKinds(words: readonly AlignedWord[]): Readonly<Record<WordKind, number>> {
  const counts = { match: 0, wrong: 0, missing: 0, extra: 0 };
  for (const { kind } of words) counts[kind]++;
  return counts;
}

/** Text alternative to the colours: `18 right, 1 wrong, 1 missing`. */
export function describeAlignment(words: readonly AlignedWord[]): string {
  const { match, ...faults } = countKinds(words);
  const parts = Object.entries(faults).filter(([, count]) => count > 0);
  if (parts.length === 0) return words.length === 0 ? 'no words' : 'all words right';
  return [`${match} right`, ...parts.map(([kind, count]) => `${count} ${kind}`)].join(', ');
}

/** The visible words of a long text, and a summary of the rest. Texts slightly over the limit are not folded. */
export function foldWords<W extends Pick<AlignedWord, 'kind'>>(
  words: readonly W[],
  limit = FOLDED_WORDS,
): { readonly shown: readonly W[]; readonly hidden: number; readonly hiddenErrors: number } {
  if (words.length <= limit * 1.25) return { shown: words, hidden: 0, hiddenErrors: 0 };
  const rest = words.slice(limit);
  const hiddenErrors = rest.filter(({ kind }) => kind !== 'match').length;
  return { shown: words.slice(0, limit), hidden: rest.length, hiddenErrors };
}

/** The target alone, as words that all match. */
export function targetOf(words: readonly AlignedWord[]): readonly AlignedWord[] {
  return words.flatMap(({ expected, strand }) =>
    expected === null ? [] : [{ kind: 'match' as const, expected, got: expected, strand }],
  );
}

/** One strand's fragment, reconstructed from an alignment with its target. */
export function fragmentOf(words: readonly AlignedWord[], strand: 'a' | 'b'): string {
  return words.flatMap((word) => (word.strand === strand && word.expected !== null ? [word.expected] : [])).join(' ');
}

/** Near duplicates: compared side by side, one of them or both kept. */
import { inputError } from '../../errors.ts';
import type { TextHeading, TextRow, TextSide } from '../../store/texts.ts';
import type { DiffRun } from '../../text/word-diff.ts';
import type { SimilarPair } from '../text-worker/similar-task.ts';
import { type SourceText, sideOf } from '../texts/source-text.ts';
import { sourceText } from '../texts/stored.ts';
import { corpusOf, type Library } from './library.ts';
import { requireText } from './texts.ts';

/** One of two texts that are compared. */
export interface ComparedText {
  readonly title: string;
  readonly source: string;
  readonly words: number;
  /** null: not decided, or not in the corpus yet. */
  readonly side: TextSide | null;
}

export interface TextComparison {
  readonly first: ComparedText;
  readonly second: ComparedText;
  readonly runs: readonly DiffRun[];
}

export type SimilarTexts = Omit<SimilarPair, 'first' | 'second'> & {
  readonly first: TextHeading;
  readonly second: TextHeading;
};

/** The near duplicates of the corpus that nobody has decided about. */
export async function similarTexts(library: Library, signal?: AbortSignal): Promise<SimilarTexts[]> {
  const { store, workers } = library;
  const input = { corpus: corpusOf(store), kept: store.texts.keptPairs() };
  const pairs = await workers.run('findSimilar', input, { signal });
  return pairs.flatMap(({ first, second, ...rest }) => {
    const [one, other] = [store.texts.heading(first), store.texts.heading(second)];
    return one === undefined || other === undefined ? [] : [{ ...rest, first: one, second: other }];
  });
}

/** Two texts of the corpus, word by word. */
export async function compareTexts(library: Library, first: number, second: number): Promise<TextComparison> {
  const [one, other] = [requireText(library.store, first), requireText(library.store, second)];
  const runs = await library.workers.run('compareWords', { first: one.text, second: other.text });
  return { first: comparedText(one), second: comparedText(other), runs };
}

function comparedText({ title, source, words, side }: TextRow): ComparedText {
  return { title, source, words, side };
}

/** An incoming text against the first one that it resembles, which is the first of the two. */
export async function compareIncoming(library: Library, importId: number, position: number): Promise<TextComparison> {
  const { texts, places } = library.staged.get(importId);
  const [incoming, place] = [texts[position], places[position]];
  if (incoming === undefined || place === undefined || place === null)
    throw inputError('NOT_SIMILAR', `Text ${position} of the import resembles no other text`);
  const earlier =
    place.kind === 'incoming' ? texts[place.position] : sourceText(requireText(library.store, Number(place.id)));
  if (earlier === undefined) throw inputError('NOT_SIMILAR', `Text ${position} of the import resembles no other text`);
  const runs = await library.workers.run('compareWords', { first: earlier.text, second: incoming.text });
  const compared = ({ title, source, side }: SourceText, which: 'first' | 'second'): ComparedText => ({
    title,
    source,
    side: side ?? null,
    words: runs.reduce((sum, { kind, words }) => sum + (kind === 'same' || kind === which ? words.length : 0), 0),
  });
  return { first: compared(earlier, 'first'), second: compared(incoming, 'second'), runs };
}

/**
 * Keeps one of two near duplicates, or both. Then they are on one side of the split, for training unless it is decided
 * already; two that are on both sides stay there, because datasets were made with them.
 */
export function resolvePair(
  { store, changes }: Pick<Library, 'store' | 'changes'>,
  {
    first,
    second,
    keep,
  }: { readonly first: number; readonly second: number; readonly keep: 'first' | 'second' | 'both' },
): void {
  const [one, other] = [requireText(store, first), requireText(store, second)];
  store.transaction(() => {
    const side = sideOf([one, other].map(sourceText));
    if (keep === 'both') {
      for (const { id } of [one, other]) store.texts.decide(id, side ?? 'train');
      return store.texts.keepBoth(one.hash, other.hash);
    }
    const [kept, removed] = keep === 'first' ? [one, other] : [other, one];
    const tags = [...(store.texts.heading(kept.id)?.tags ?? []), ...(store.texts.heading(removed.id)?.tags ?? [])];
    store.texts.setTags(kept.id, [...new Set(tags)]);
    // The one that stays repeats what may have been trained on.
    if (side === 'train') store.texts.train(kept.id);
    else if (side !== undefined) store.texts.decide(kept.id, side);
    store.texts.remove(removed.id);
  });
  changes.publish('texts');
}

/** A change to the corpus, prepared in the worker thread and applied by the host in one transaction. */
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { type NewText, type TextPart, textHash } from '../../store/texts.ts';
import type { MergeOutcome } from './merge.ts';
import type { CorpusText, Side } from './source-text.ts';

/** A text to add, with its hash: the host shouldn't hash millions of words. */
export interface AddedText extends NewText {
  readonly hash: string;
  /** Of the texts that it replaces. */
  readonly side?: Side | undefined;
  /** Ids of the stored texts whose words it has: it gets their tags. */
  readonly from?: readonly number[] | undefined;
  /** Keeps them as its parts, so that the merge can be undone. */
  readonly keepsParts?: boolean | undefined;
  /** Hashes of near duplicates that are kept besides it. */
  readonly besides?: readonly string[] | undefined;
}

export interface CorpusChange {
  readonly add: readonly AddedText[];
  /** Ids of texts to remove. */
  readonly remove: readonly number[];
  /** Sides that are decided with the change. */
  readonly decide?: readonly { readonly id: number; readonly side: Side }[];
}

/** The change from added texts, each with what it comes from, and the removed ones. */
export function changeOf(
  added: readonly CorpusText[],
  removed: readonly CorpusText[],
  more: (added: CorpusText) => Pick<AddedText, 'from' | 'keepsParts' | 'besides'> = () => ({}),
): CorpusChange {
  return {
    add: added.map((text) => ({ ...addedText(text), ...more(text) })),
    remove: removed.map(({ id }) => Number(id)),
  };
}

function addedText({ title, text, source, words, side }: CorpusText): AddedText {
  return { title, text, source, words, side, hash: textHash(text) };
}

/** What the texts that a merge added come from, for `changeOf`. */
export function originsOf(
  outcomes: readonly MergeOutcome[],
): (added: CorpusText) => Pick<AddedText, 'from' | 'besides'> {
  const byText = new Map(outcomes.flatMap((outcome) => (outcome.added === null ? [] : [[outcome.added, outcome]])));
  return (added) => {
    const { replaced = [], besides = [] } = byText.get(added) ?? {};
    return { from: replaced.map(({ id }) => Number(id)), besides: besides.map(({ text }) => textHash(text)) };
  };
}

/** Sides that near duplicates get by being kept besides an added text. */
export function decidedBeside(outcomes: readonly MergeOutcome[]): NonNullable<CorpusChange['decide']> {
  return outcomes.flatMap(({ besides }) =>
    besides.flatMap(({ id, side }) => (side === undefined ? [] : [{ id: Number(id), side }])),
  );
}

/** Applies the change completely or not at all; returns the ids of the added texts. */
export function applyChange(store: Pick<Store, 'texts' | 'transaction'>, change: CorpusChange): number[] {
  const { texts } = store;
  return store.transaction(() => {
    const sources = change.add.map(({ from = [] }) => from.map((id) => partOf(store, id)));
    for (const id of change.remove) texts.remove(id);
    for (const { id, side } of change.decide ?? []) texts.decide(id, side);
    return change.add.map(({ hash, side, from: _, keepsParts = false, besides = [], ...text }, i) => {
      const { id } = texts.add(text, hash);
      const parts = sources[i] ?? [];
      const tags = new Set(parts.flatMap((part) => part.tags));
      if (tags.size > 0) texts.setTags(id, [...tags]);
      if (keepsParts) texts.setParts(id, parts);
      if (side !== undefined) texts.decide(id, side);
      for (const other of besides) texts.keepBoth(hash, other);
      return id;
    });
  });
}

/** A stored text with all that brings it back. */
export function partOf({ texts }: Pick<Store, 'texts'>, id: number): TextPart {
  const row = texts.get(id);
  if (row === undefined) throw inputError('TEXT_UNKNOWN', `There is no text with id ${id}`, 'Choose the texts again.');
  const { title, text, source, words, addedAt } = row;
  const parts = texts.parts(id);
  const tags = texts.heading(id)?.tags ?? [];
  return { title, text, source, words, addedAt, tags, ...(parts !== null && { parts }) };
}

/** Changes to single texts: their words, their tags, and a merge or a manuscript taken apart. */
import { inputError } from '../../errors.ts';
import type { TextPart } from '../../store/texts.ts';
import { textHash } from '../../store/texts.ts';
import { oneForm } from '../../text/one-form.ts';
import { countSourceWords } from '../../text/source-words.ts';
import type { SplitInput, SplitPlan } from '../text-worker/split-task.ts';
import { textFault } from '../texts/parse.ts';
import { freeName, titleOf } from '../texts/source-text.ts';
import { changeCorpus } from './imports.ts';
import { corpusOf, type Library } from './library.ts';
import { requireText } from './texts.ts';

type Texts = Pick<Library, 'store' | 'changes'>;

export interface TextEdit {
  readonly id: number;
  readonly text: string;
  /** The hash of the text that was edited. */
  readonly from: string;
}

/** Replaces a text's words. It stays on its side of the split: what it was may have been trained on. */
export function editText({ store, changes }: Texts, { id, text, from }: TextEdit): void {
  const reason = textFault(text);
  if (reason !== null) throw inputError('BAD_TEXT', `The text can't be saved: ${reason}`, 'Nothing was changed.');
  store.transaction(() => {
    const row = requireText(store, id);
    if (row.hash !== from)
      throw inputError('TEXT_CHANGED', `“${row.title}” was changed elsewhere`, 'Copy your words, and edit it again.');
    const words = oneForm(text).trim();
    const saved = { title: row.title, source: row.source, text: words, words: countSourceWords(words) };
    if (!store.texts.edit(id, saved, textHash(words)))
      throw inputError('TEXT_TAKEN', 'Another text has the same words', 'Delete one of the two instead.');
    if (row.side !== null) store.texts.decide(id, row.side);
  });
  changes.publish('texts');
}

/** Adds tags to texts, and removes others from them. */
export function tagTexts(
  { store, changes }: Texts,
  {
    ids,
    add,
    remove,
  }: { readonly ids: readonly number[]; readonly add: readonly string[]; readonly remove: readonly string[] },
): void {
  store.transaction(() => {
    for (const id of ids) {
      requireText(store, id);
      const before = store.texts.heading(id)?.tags ?? [];
      const tags = [...new Set([...before, ...add])].filter((tag) => !remove.includes(tag));
      if (tags.length > MAX_TAGS)
        throw inputError('TOO_MANY_TAGS', `Expected at most ${MAX_TAGS} tags a text, got ${tags.length}`);
      store.texts.setTags(id, tags);
    }
  });
  changes.publish('texts');
}

const MAX_TAGS = 20;

export type SplitRequest = Omit<SplitInput, 'corpus'>;
export type SplitPreview = Omit<SplitPlan, 'change'>;

/** Previews splitting a text at its headings; nothing is stored. */
export async function previewSplit(
  library: Library,
  wanted: SplitRequest,
  signal?: AbortSignal,
): Promise<SplitPreview> {
  const input = { corpus: corpusOf(library.store), ...wanted };
  const { change: _, ...preview } = await library.workers.run('planSplit', input, { signal });
  return preview;
}

/** Splits a text at its headings: its pieces replace it. */
export async function splitText(library: Library, wanted: SplitRequest): Promise<SplitPreview> {
  const { result } = library.jobs.start('import', 'Split a text', ({ signal }) =>
    changeCorpus(library, async (corpus) => {
      const plan = await library.workers.run('planSplit', { corpus, ...wanted }, { signal });
      if (plan.pieces.length > 1) return plan;
      throw inputError('NO_HEADINGS', 'The text has fewer than two such pieces', 'Choose another kind of heading.');
    }),
  );
  const { change: _, ids: __, ...preview } = await result;
  return preview;
}

/** What undoing a merge brought back. */
export interface UndoneMerge {
  readonly restored: number;
  /** Titles of parts that are left out, because another text has their words by now. */
  readonly known: readonly string[];
}

/**
 * Replaces a merged text by its parts, as they were. A part that was trained on as a part of it stays for training,
 * even if it was for testing before.
 */
export function undoJoin({ store, changes }: Texts, id: number): UndoneMerge {
  const done = store.transaction(() => {
    const { side, addedAt } = requireText(store, id);
    const parts = store.texts.parts(id);
    if (parts === null) throw inputError('NOT_MERGED', `Text ${id} was not merged from others`);
    store.texts.remove(id);
    const wasUsed = store.datasets.list().some(({ madeAt }) => madeAt >= addedAt);
    const back = parts.map((part) => ({ part, added: restore(store, part) }));
    for (const { added } of back) {
      if (added === null || side === null) continue;
      if (side === 'train' && wasUsed) store.texts.train(added);
      else store.texts.decide(added, side);
    }
    const known = back.filter(({ added }) => added === null).map(({ part }) => part.title);
    return { restored: back.length - known.length, known };
  });
  changes.publish('texts');
  return done;
}

/** Brings back what was removed; texts whose words are there again stay as they are. */
export function undoRemove(
  { store, changes, removed }: Texts & Pick<Library, 'removed'>,
  removalId: number,
): UndoneMerge {
  const parts = removed.take(removalId);
  const done = store.transaction(() => {
    const known = parts.filter((part) => restore(store, part) === null).map(({ title }) => title);
    return { restored: parts.length - known.length, known };
  });
  changes.publish('texts');
  return done;
}

/** Adds a part again under its title; null if another text has its words. */
function restore(
  { texts }: Texts['store'],
  { title, text, source, words, tags, addedAt, parts }: TextPart,
): number | null {
  const taken = new Set(texts.headings().map((other) => other.title));
  const name = titleOf(
    freeName(title, taken, (n) => `${title} (${n})`),
    text,
  );
  const { id, added } = texts.add({ title: name, text, source, words });
  if (!added) return null;
  texts.setTags(id, tags);
  texts.setAddedAt(id, addedAt);
  if (parts !== undefined) texts.setParts(id, parts);
  return id;
}

/** A change to the corpus, prepared in the worker thread and applied by the host in one transaction. */
import type { Store } from '../../store/index.ts';
import { type NewText, textHash } from '../../store/texts.ts';
import type { CorpusText, Side } from '../texts/source-text.ts';
import { curriculumWords } from './supply.ts';

/** A text to add, with its hash: the host shouldn't hash millions of words. */
export interface AddedText extends NewText {
  readonly hash: string;
  /** Of the texts that it replaces. */
  readonly side?: Side | undefined;
}

export interface CorpusChange {
  readonly add: readonly AddedText[];
  /** Ids of texts to remove. */
  readonly remove: readonly number[];
}

/** How many texts are long enough for a stage, before and after. */
export interface StageChange {
  readonly words: number;
  readonly before: number;
  readonly after: number;
}

/** The change from added texts and the ids of removed ones. */
export function changeOf(added: readonly CorpusText[], removed: readonly string[]): CorpusChange {
  return {
    add: added.map(({ title, text, source, words, side }) => ({
      title,
      text,
      source,
      words,
      side,
      hash: textHash(text),
    })),
    remove: removed.map(Number),
  };
}

/** Texts long enough for each stage of the curriculum, before and after. */
export function stageChanges(before: readonly CorpusText[], after: readonly CorpusText[]): StageChange[] {
  const serving = (texts: readonly CorpusText[], words: number) => texts.filter((text) => text.words >= words).length;
  return curriculumWords.map((words) => ({ words, before: serving(before, words), after: serving(after, words) }));
}

/** Applies the change completely or not at all. */
export function applyChange(store: Pick<Store, 'texts' | 'transaction'>, { add, remove }: CorpusChange): void {
  store.transaction(() => {
    for (const id of remove) store.texts.remove(id);
    for (const { hash, side, ...text } of add) {
      const { id } = store.texts.add(text, hash);
      if (side !== undefined) store.texts.decide(id, side);
    }
  });
}

/** A change of the corpus, worked out in the thread and made by the host in one go. */
import type { Store } from '../../store/index.ts';
import { type NewText, textHash } from '../../store/texts.ts';
import type { CorpusText } from '../corpora/source-text.ts';
import { curriculumWords } from '../datasets/supply.ts';

/** A text to add, with its identity: hashing millions of words is not the host's work. */
export interface AddedText extends NewText {
  readonly hash: string;
}

export interface CorpusChange {
  readonly add: readonly AddedText[];
  /** Ids of texts that go. */
  readonly remove: readonly number[];
}

/** How many texts serve a stage, before and after. */
export interface StageChange {
  readonly words: number;
  readonly before: number;
  readonly after: number;
}

/** The change from what is added and the ids of what goes. */
export function changeOf(added: readonly CorpusText[], removed: readonly string[]): CorpusChange {
  return {
    add: added.map(({ title, text, source, words }) => ({ title, text, source, words, hash: textHash(text) })),
    remove: removed.map(Number),
  };
}

/** Texts that serve each stage of the curriculum, before and after. */
export function stageChanges(before: readonly CorpusText[], after: readonly CorpusText[]): StageChange[] {
  const serving = (texts: readonly CorpusText[], words: number) => texts.filter((text) => text.words >= words).length;
  return curriculumWords.map((words) => ({ words, before: serving(before, words), after: serving(after, words) }));
}

/** Makes the change, all of it or nothing. */
export function applyChange(store: Pick<Store, 'texts' | 'transaction'>, { add, remove }: CorpusChange): void {
  store.transaction(() => {
    for (const id of remove) store.texts.remove(id);
    for (const { hash, ...text } of add) store.texts.add(text, hash);
  });
}

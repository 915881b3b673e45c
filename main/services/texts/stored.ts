/** The corpus of a workspace. */
import type { Store } from '../../store/index.ts';
import type { TextRow } from '../../store/texts.ts';
import { applyChange, changeOf, originsOf } from './corpus-change.ts';
import { type MergeResult, mergeTexts } from './merge.ts';
import { type CorpusText, corpusText, type SourceText } from './source-text.ts';

/** The part of the store that holds texts. */
export type TextStore = Pick<Store, 'texts' | 'transaction'>;

/** Every text of the workspace, oldest first. */
export function storedTexts(store: Pick<Store, 'texts'>): CorpusText[] {
  return store.texts.list().map((row) => corpusText(sourceText(row)));
}

/** A row as a text of the corpus. */
export function sourceText({ id, title, text, source, side }: TextRow): SourceText {
  return { id: String(id), title, text, source, ...(side !== null && { side }) };
}

/** Merges texts into the workspace's corpus: all of them or, on an error, none. */
export function importIntoStore(store: TextStore, incoming: readonly SourceText[]): MergeResult {
  return store.transaction(() => {
    const merged = mergeTexts(storedTexts(store), incoming);
    applyChange(store, changeOf(merged.added, merged.removed, originsOf(merged.outcomes)));
    return merged;
  });
}

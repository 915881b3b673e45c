/** The corpus of a workspace. */
import type { Store } from '../../store/index.ts';
import { type MergeResult, mergeTexts } from './merge.ts';
import { type CorpusText, corpusText, type SourceText } from './source-text.ts';

/** The part of the store that holds texts. */
export type TextStore = Pick<Store, 'texts' | 'transaction'>;

/** Every text of the workspace, in the order of arrival. */
export function storedTexts(store: Pick<Store, 'texts'>): CorpusText[] {
  return store.texts.list().map(({ id, title, text, source }) => corpusText({ id: String(id), title, text, source }));
}

/** Merges texts into the workspace's corpus: all of them or, on a fault, none. */
export function importIntoStore(store: TextStore, incoming: readonly SourceText[]): MergeResult {
  return store.transaction(() => {
    const merged = mergeTexts(storedTexts(store), incoming);
    for (const { id } of merged.removed) store.texts.remove(Number(id));
    for (const { title, text, source, words } of merged.added) store.texts.add({ title, text, source, words });
    return merged;
  });
}

/** The texts of the workspace: listed, read, renamed, merged, removed. */
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { TextHeading, TextRow, TextSide } from '../../store/texts.ts';
import { defaultPairs, type PairCounts } from '../datasets/supply.ts';
import type { JoinGroup, JoinPlan } from '../text-worker/join-task.ts';
import type { CorpusOverview } from '../text-worker/overview-task.ts';
import { partOf } from '../texts/corpus-change.ts';
import { titleOf } from '../texts/source-text.ts';
import { changeCorpus } from './imports.ts';
import { corpusOf, type Library } from './library.ts';

/** A text for display in the app, truncated if very long. */
export interface WholeText extends TextHeading {
  readonly text: string;
  /** Characters that are not shown. */
  readonly more: number;
  /** Of its words: an edit says what it started from. */
  readonly hash: string;
  /** null: no dataset was made from it yet. */
  readonly side: TextSide | null;
  /** Titles and lengths of what it was merged from; empty: it wasn't. */
  readonly parts: readonly { readonly title: string; readonly words: number }[];
}

const MAX_SHOWN = 200_000;

/** The metadata of all texts; with `search`, of those that contain it in title, source or text. */
export function listTexts(store: Pick<Store, 'texts'>, search?: string): TextHeading[] {
  const headings = store.texts.headings();
  if (search === undefined || search.trim() === '') return headings;
  const found = new Set(store.texts.search(search.trim()));
  return headings.filter(({ id }) => found.has(id));
}

/** A text to read. */
export function readText(store: Pick<Store, 'texts'>, id: number): WholeText {
  const { text, hash, side } = requireText(store, id);
  const parts = (store.texts.parts(id) ?? []).map(({ title, words }) => ({ title, words }));
  return {
    ...requireHeading(store, id),
    hash,
    side,
    parts,
    text: text.slice(0, MAX_SHOWN),
    more: Math.max(0, text.length - MAX_SHOWN),
  };
}

function requireHeading(store: Pick<Store, 'texts'>, id: number): TextHeading {
  const heading = store.texts.heading(id);
  if (heading !== undefined) return heading;
  throw unknownText(id);
}

/** A stored text, or the error that says that there is none. */
export function requireText(store: Pick<Store, 'texts'>, id: number): TextRow {
  const row = store.texts.get(id);
  if (row !== undefined) return row;
  throw unknownText(id);
}

function unknownText(id: number) {
  return inputError('TEXT_UNKNOWN', `There is no text with id ${id}`, 'It may have been removed.');
}

/** The corpus in numbers, with what each stage has and needs. */
export function overviewOf(
  library: Library,
  options: {
    readonly train?: number | undefined;
    readonly test?: number | undefined;
    readonly seed?: number | undefined;
    readonly stages?: readonly number[] | undefined;
  },
  signal?: AbortSignal,
): Promise<CorpusOverview> {
  const pairs: PairCounts = { train: options.train ?? defaultPairs.train, test: options.test ?? defaultPairs.test };
  const { seed = 42, stages } = options;
  const input = { texts: corpusOf(library.store), pairs, seed, stages };
  return library.workers.run('overview', input, { signal });
}

/** Renames a text; titles identify texts in records, so they are unique. */
export function renameText({ store, changes }: Pick<Library, 'store' | 'changes'>, id: number, title: string): void {
  const wanted = titleOf(title, '');
  requireText(store, id);
  const other = store.texts.byTitle(wanted);
  if (other !== undefined && other.id !== id)
    throw inputError('TITLE_TAKEN', `Another text is already called "${wanted}"`, 'Choose another title.');
  store.texts.rename(id, wanted);
  changes.publish('texts');
}

/** Removes texts, all or none; returns the id by which they can be brought back. */
export function removeTexts(
  { store, changes, removed }: Pick<Library, 'store' | 'changes' | 'removed'>,
  ids: readonly number[],
): number {
  const parts = store.transaction(() => {
    for (const id of ids) requireText(store, id);
    const kept = ids.map((id) => partOf(store, id));
    for (const id of ids) store.texts.remove(id);
    return kept;
  });
  changes.publish('texts');
  return removed.hold(parts);
}

/** The result of merging texts. */
export type JoinPreview = Omit<JoinPlan, 'change'>;

/** What was merged, and the ids of the merged texts. */
export interface JoinOutcome extends JoinPreview {
  readonly ids: readonly number[];
}

/** Previews merging; nothing is stored. */
export async function previewJoin(
  library: Library,
  groups: readonly JoinGroup[],
  signal?: AbortSignal,
): Promise<JoinPreview> {
  const { joined, stages } = await library.workers.run(
    'planJoin',
    { corpus: corpusOf(library.store), groups },
    { signal },
  );
  return { joined, stages };
}

/** Merges texts: each merged text replaces its parts. */
export async function joinTexts(library: Library, groups: readonly JoinGroup[]): Promise<JoinOutcome> {
  const { result } = library.jobs.start('import', 'Merge texts', ({ signal }) =>
    changeCorpus(library, (corpus) => library.workers.run('planJoin', { corpus, groups }, { signal })),
  );
  const { joined, stages, ids } = await result;
  return { joined, stages, ids };
}

/** The texts of the workspace: listed, read, renamed, joined, removed. */
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { TextHeading } from '../../store/texts.ts';
import { titleOf } from '../corpora/source-text.ts';
import { defaultPairs, type PairCounts } from '../datasets/supply.ts';
import { corpusOf, type Library } from '../library.ts';
import { changeCorpus } from './imports.ts';
import type { JoinGroup, JoinPlan } from './join-task.ts';
import type { CorpusOverview } from './overview-task.ts';

/** A text as it is read in the app; of a very long one the beginning. */
export interface WholeText extends TextHeading {
  readonly text: string;
  /** Characters that are not shown. */
  readonly more: number;
}

const MOST_SHOWN = 200_000;

/** Every text without its words; with `search` those that hold it in title, source or words. */
export function listTexts(store: Pick<Store, 'texts'>, search?: string): TextHeading[] {
  const headings = store.texts.headings();
  if (search === undefined || search.trim() === '') return headings;
  const found = new Set(store.texts.search(search.trim()));
  return headings.filter(({ id }) => found.has(id));
}

/** A text to read. */
export function readText(store: Pick<Store, 'texts'>, id: number): WholeText {
  const { hash: _, ...row } = requireText(store, id);
  return { ...row, text: row.text.slice(0, MOST_SHOWN), more: Math.max(0, row.text.length - MOST_SHOWN) };
}

function requireText(store: Pick<Store, 'texts'>, id: number) {
  const row = store.texts.get(id);
  if (row !== undefined) return row;
  throw inputError('TEXT_UNKNOWN', `Expected the id of a text, got ${id}: there is none`, 'It may have been removed.');
}

/** The corpus in numbers, with what each stage has and lacks. */
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

/** Gives a text another title; titles tell texts apart in records, so that each stands once. */
export function renameText({ store, changes }: Pick<Library, 'store' | 'changes'>, id: number, title: string): void {
  const wanted = titleOf(title, '');
  requireText(store, id);
  const other = store.texts.byTitle(wanted);
  if (other !== undefined && other.id !== id)
    throw inputError(
      'TITLE_TAKEN',
      `Expected a title of its own, but another text is called "${wanted}"`,
      'Choose another title.',
    );
  store.texts.rename(id, wanted);
  changes.publish('texts');
}

/** Removes texts, all or none. */
export function removeTexts({ store, changes }: Pick<Library, 'store' | 'changes'>, ids: readonly number[]): void {
  store.transaction(() => {
    for (const id of ids) requireText(store, id);
    for (const id of ids) store.texts.remove(id);
  });
  changes.publish('texts');
}

/** What joining texts would give. */
export type JoinPreview = Omit<JoinPlan, 'change'>;

/** Shows what joining would give; nothing is stored. */
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

/** Joins texts: each whole takes the place of its parts. */
export async function joinTexts(library: Library, groups: readonly JoinGroup[]): Promise<JoinPreview> {
  const { result } = library.jobs.start('import', 'Merge texts', ({ signal }) =>
    changeCorpus(library, (corpus) => library.workers.run('planJoin', { corpus, groups }, { signal })),
  );
  const { joined, stages } = await result;
  return { joined, stages };
}

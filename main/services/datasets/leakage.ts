/** Checks that held-out pairs are really held out. */
import type { DatasetLeakage } from '../../store/datasets.ts';
import type { InterleaveRecord } from '../../tasks/interleave/record.ts';
import type { Task, TaskRecord } from '../../tasks/task.ts';
import { shingles } from '../../text/near-duplicates.ts';

/** A sequence of words that a test record shares with a training record. */
export interface Overlap {
  readonly test_id: string;
  readonly train_id: string;
  readonly words: string;
}

/** What training and test records share; field names as in `--json`. */
export interface Leakage {
  readonly clean: boolean;
  readonly shared_titles: readonly string[];
  /** One for each test record that shares words with a training record. */
  readonly overlaps: readonly Overlap[];
}

/** The numbers that are kept with a dataset. */
export function countLeakage({ shared_titles, overlaps }: Leakage): DatasetLeakage {
  return { titles: shared_titles.length, pairs: overlaps.length };
}

/** Eight consecutive words are rarely equal by chance. */
const OVERLAP_WORDS = 8;

/** Looks for shared titles, and for sequences of eight words on both sides. */
export function findLeakage(train: readonly InterleaveRecord[], test: readonly InterleaveRecord[]): Leakage {
  return compare(train, test, {
    titles: ({ title_a, title_b }) => [title_a, title_b],
    texts: ({ fragment_a, fragment_b }) => [fragment_a, fragment_b],
  });
}

/** The same for records of any task: whole prompts that both sides have, and words of what was quoted in them. */
export function findRecordLeakage<R extends TaskRecord>(
  task: Pick<Task<R>, 'quoted'>,
  train: readonly R[],
  test: readonly R[],
): Leakage {
  return compare(train, test, {
    titles: (record) => [record.prompt],
    texts: (record) => task.quoted(record),
    whole: (record) => [record.prompt],
  });
}

interface Parts<R> {
  /** What names a text: the same on both sides is the same text. */
  titles(record: R): readonly string[];
  texts(record: R): readonly string[];
  /** What counts as shared words however short it is. */
  whole?(record: R): readonly string[];
}

function compare<R extends { readonly id: string }>(train: readonly R[], test: readonly R[], parts: Parts<R>): Leakage {
  const trained = new Set(train.flatMap(parts.titles));
  const titles = new Set(test.flatMap(parts.titles));
  const sharedTitles = [...titles].filter((title) => trained.has(title)).sort();
  const runsOf = (record: R): string[] => [...parts.texts(record).flatMap(runs), ...(parts.whole?.(record) ?? [])];
  const known = new Map<string, string>();
  for (const record of train) for (const run of runsOf(record)) if (!known.has(run)) known.set(run, record.id);
  const overlaps = test.flatMap((record): Overlap[] => {
    for (const run of runsOf(record)) {
      const trainId = known.get(run);
      if (trainId !== undefined) return [{ test_id: record.id, train_id: trainId, words: run }];
    }
    return [];
  });
  return { clean: sharedTitles.length === 0 && overlaps.length === 0, shared_titles: sharedTitles, overlaps };
}

/** Sequences of eight words; a shorter fragment counts whole, unless it is too short to be meaningful. */
function runs(text: string): string[] {
  return [...shingles(text, OVERLAP_WORDS)].filter((run) => run.split(' ').length >= OVERLAP_WORDS);
}

/** Checks that held-out pairs are really held out. */
import type { DatasetLeakage } from '../../store/datasets.ts';
import type { InterleaveRecord } from '../../tasks/interleave/record.ts';
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
  const trained = new Set(train.flatMap((record) => [record.title_a, record.title_b]));
  const titles = new Set(test.flatMap((record) => [record.title_a, record.title_b]));
  const sharedTitles = [...titles].filter((title) => trained.has(title)).sort();
  const known = new Map<string, string>();
  for (const record of train) for (const run of runs(record)) if (!known.has(run)) known.set(run, record.id);
  const overlaps = test.flatMap((record): Overlap[] => {
    for (const run of runs(record)) {
      const trainId = known.get(run);
      if (trainId !== undefined) return [{ test_id: record.id, train_id: trainId, words: run }];
    }
    return [];
  });
  return { clean: sharedTitles.length === 0 && overlaps.length === 0, shared_titles: sharedTitles, overlaps };
}

/** Sequences of eight words; a shorter fragment counts whole, unless it is too short to be meaningful. */
function runs(record: InterleaveRecord): string[] {
  return [record.fragment_a, record.fragment_b].flatMap((fragment) =>
    [...shingles(fragment, OVERLAP_WORDS)].filter((run) => run.split(' ').length >= OVERLAP_WORDS),
  );
}

/** The lengths of a run's records, as its dataset has them now. */
import { statSync } from 'node:fs';
import { BraidError } from '../../../errors.ts';
import type { Store } from '../../../store/index.ts';
import type { RunRow } from '../../../store/runs.ts';
import { openTask } from '../../../tasks/index.ts';
import { countWords } from '../../../text/words.ts';
import { readDataset } from '../../datasets/index.ts';
import { runTask } from '../../tasks/run-task.ts';
import type { RecordWords } from './signal-step.ts';

interface Known {
  readonly runId: number;
  readonly version: string;
  readonly words: RecordWords;
}

/** The last run that was asked for: while it trains its page asks again and again. */
const last = new WeakMap<Store, Known>();

/** Words of each reference completion, as AdaRFT counts them; null: dataset or task can't be read. */
export function recordWords(store: Store, run: RunRow, dataset: string): RecordWords {
  const file = statSync(dataset, { throwIfNoEntry: false });
  if (file === undefined) return null;
  const version = `${dataset}:${file.size}:${file.mtimeMs}`;
  const known = last.get(store);
  if (known?.runId === run.id && known.version === version) return known.words;
  const words = read(store, run, dataset);
  last.set(store, { runId: run.id, version, words });
  return words;
}

function read(store: Store, run: RunRow, dataset: string): RecordWords {
  try {
    // Records are read without the reward, so it starts no thread.
    const task = openTask(runTask(store, run), '');
    return new Map(readDataset(dataset, task).map((record) => [record.id, countWords(task.target(record))]));
  } catch (error) {
    if (error instanceof BraidError) return null;
    throw error;
  }
}

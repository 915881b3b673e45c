/** Checks a task's folder as a whole: both files, its own records, and the examples that say what they should get. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BraidError } from '../../errors.ts';
import { describeFault, type FileFault } from '../../io/text-file.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import { taskHash } from '../../tasks/folder/source.ts';
import { openTask } from '../../tasks/index.ts';
import type { Task } from '../../tasks/task.ts';
import { readDataset } from '../datasets/index.ts';
import { OWN_RECORDS } from '../tasks/start-config.ts';
import { type GivenAnswer, readCompletions } from './completions-file.ts';
import { type Rewarded, rewarded } from './dry-run.ts';

/** Examples in a task's folder: completions, each with the reward that it should get. */
export const EXAMPLES = 'examples.jsonl';

/** Field names as in `--json`. */
export interface TaskCheck {
  readonly ok: boolean;
  readonly task: string;
  readonly hash: string;
  readonly rewards: readonly string[];
  /** null: the folder has no such file. */
  readonly records: number | null;
  readonly examples: number | null;
  /** A sentence each, with file and line. */
  readonly faults: readonly string[];
}

/** Rewards in examples are written with a few digits. */
const TOLERANCE = 1e-3;

/** Checks everything; faults are listed, not thrown. */
export function checkTask(source: FolderSource, rewardWorker: string): TaskCheck {
  const faults: string[] = [];
  const attempt = <T>(work: () => T): T | null => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof BraidError)) throw error;
      faults.push(...error.message.split('\n'));
      return null;
    }
  };
  const file = (name: string): string | null => {
    const path = join(source.folder, name);
    return existsSync(path) ? path : null;
  };

  const task = attempt(() => openTask(source, rewardWorker));
  const isRunnable = task !== null && attempt(() => task.score([])) !== null;
  const [records, examples] = [file(OWN_RECORDS), file(EXAMPLES)];
  const read = task === null || records === null ? null : attempt(() => readDataset(records, task));
  const given = task === null || examples === null ? null : attempt(() => readCompletions(examples, task));
  if (task !== null && isRunnable && given !== null && examples !== null)
    faults.push(...exampleFaults(task, given, examples).map(describeFault));
  task?.close();
  return {
    ...{ ok: faults.length === 0, task: source.name, hash: taskHash(source), rewards: task?.rewardNames ?? [] },
    ...{ records: read?.length ?? null, examples: given?.length ?? null, faults },
  };
}

function exampleFaults(task: Task, given: readonly GivenAnswer[], file: string): FileFault[] {
  return rewarded(
    task,
    given.map(({ answer }) => answer),
  ).flatMap((scored, i) => {
    const { line = null, expected = null } = given[i] ?? {};
    const reason = scored.failure ?? difference(scored, expected);
    return reason === null ? [] : [{ file, line, reason }];
  });
}

function difference({ reward, components }: Rewarded, expected: GivenAnswer['expected']): string | null {
  if (expected === null) return null;
  if (typeof expected === 'number')
    return near(reward, expected) ? null : `expected a reward of ${expected}, got ${short(reward)}`;
  const off = Object.entries(expected).find(([name, value]) => !near(components[name] ?? Number.NaN, value));
  return off === undefined ? null : `expected "${off[0]}" of ${off[1]}, got ${short(components[off[0]] ?? Number.NaN)}`;
}

function near(a: number, b: number): boolean {
  return Math.abs(a - b) <= TOLERANCE;
}

function short(value: number): string {
  return String(Number(value.toFixed(4)));
}

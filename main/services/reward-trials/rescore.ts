/**
 * What the completions that a run has stored would get under another version of its reward, and what that would have
 * changed: the order of completions in a group, and so the sign of the gradient. Nothing is stored.
 */
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { StoredSample } from '../../store/samples.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import { taskHash } from '../../tasks/folder/source.ts';
import { openTask } from '../../tasks/index.ts';
import type { Answer, Task } from '../../tasks/task.ts';
import { nanStats } from '../../trainer/losses/advantages.ts';
import { readDataset } from '../datasets/index.ts';
import { requireRun } from '../runs/runs.ts';
import { savedConfig } from '../runs/saved-config.ts';
import { rewarded } from './dry-run.ts';

/** Mean reward of the completions stored at a step, as it was and as it would be. */
export interface RescoredStep {
  readonly step: number;
  readonly n: number;
  readonly before: number;
  readonly after: number;
}

/** Field names as in `--json`. */
export interface Rescored {
  readonly run_id: number;
  readonly task: string;
  readonly hash: string;
  /** Completions that were scored again. */
  readonly n: number;
  /** Stored completions whose record is no longer in the run's dataset. */
  readonly without_record: number;
  readonly failures: number;
  readonly before: number;
  readonly after: number;
  readonly groups: number;
  /** Groups in which a better completion would be the worse one. */
  readonly order_changed: number;
  /** Completions that would be discouraged instead of encouraged, or the other way round. */
  readonly sign_changed: number;
  readonly steps: readonly RescoredStep[];
}

interface Pair {
  readonly before: number;
  readonly after: number;
}

/** Scores a run's stored completions again, step by step. */
export function rescoreRun(store: Store, runId: number, source: FolderSource, rewardWorker: string): Rescored {
  const run = requireRun(store, runId);
  const steps = store.samples.steps(runId);
  if (steps.length === 0)
    throw inputError('NO_SAMPLES', `Run ${runId} has no stored completions`, 'Choose a run with sample_steps.');
  const task = openTask(source, rewardWorker);
  try {
    const dataset = savedConfig(run).dataset;
    const records = new Map(readDataset(dataset, task).map((record) => [record.id, record]));
    const scored = steps.map((step) => {
      const samples = store.samples.byStep(runId, step);
      const known = samples.filter(({ recordId }) => records.has(recordId));
      const answers = known.flatMap((sample) => answerOf(sample, records.get(sample.recordId)));
      const results = rewarded(task, answers);
      const pairs = known.map(({ group, reward }, i) => ({
        group,
        pair: { before: reward, after: results[i]?.reward ?? Number.NaN },
      }));
      return {
        step,
        missing: samples.length - known.length,
        failures: results.filter(({ failure }) => failure !== null).length,
        groups: [...Map.groupBy(pairs, ({ group }) => group).values()].map((of) => of.map(({ pair }) => pair)),
      };
    });
    const groups = scored.flatMap((one) => one.groups);
    const all = groups.flat();
    if (all.length === 0)
      throw inputError(
        'NO_RECORDS',
        `None of the records of run ${runId}'s completions is in ${dataset}`,
        'Restore the dataset that the run was trained on.',
      );
    return {
      ...{ run_id: runId, task: source.name, hash: taskHash(source), n: all.length },
      without_record: scored.reduce((sum, { missing }) => sum + missing, 0),
      failures: scored.reduce((sum, { failures }) => sum + failures, 0),
      ...means(all),
      groups: groups.length,
      order_changed: groups.filter(changesOrder).length,
      sign_changed: groups.reduce((sum, group) => sum + changedSigns(group), 0),
      steps: scored.map((one) => ({ step: one.step, n: one.groups.flat().length, ...means(one.groups.flat()) })),
    };
  } finally {
    task.close();
  }
}

function answerOf(
  { completion, length, terminated }: StoredSample,
  record: ReturnType<Task['parseRecord']> | undefined,
): Answer[] {
  if (record === undefined) return [];
  return [{ record, completion, tokens: length, finish: terminated ? 'stop' : 'length' }];
}

function means(pairs: readonly Pair[]): Pair {
  return {
    before: nanStats(pairs.map(({ before }) => before)).mean,
    after: nanStats(pairs.map(({ after }) => after)).mean,
  };
}

function changesOrder(group: readonly Pair[]): boolean {
  return group.some((a, i) => group.slice(i + 1).some((b) => (a.before - b.before) * (a.after - b.after) < 0));
}

/** A completion's advantage has the sign of its reward less its group's mean. */
function changedSigns(group: readonly Pair[]): number {
  const mean = means(group);
  return group.filter(({ before, after }) => (before - mean.before) * (after - mean.after) < 0).length;
}

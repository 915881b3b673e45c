/** The completions that a reward is tried on: stored by a run, of the task's examples, or just sampled. */
import { basename } from 'node:path';
import { inputError } from '../../errors.ts';
import { append } from '../../lists.ts';
import { writtenOf } from '../../samples/completion.ts';
import type { StoredSample } from '../../samples/sample.ts';
import type { Store } from '../../store/index.ts';
import type { NamedGroup } from '../../tasks/groups.ts';
import type { Answer, Task } from '../../tasks/task.ts';
import { readDataset } from '../datasets/index.ts';
import { requireRun } from '../runs/runs.ts';
import { savedConfig } from '../runs/saved-config.ts';
import { readCompletions } from './completions-file.ts';

/** A completion to try a reward on. */
export interface TrialAnswer extends NamedGroup {
  /** The step of the run that stored it; null: of no run. */
  readonly step: number | null;
  /** The reward that the run gave it; null: of no run, or it failed. */
  readonly before: number | null;
}

export interface TrialAnswers {
  readonly answers: readonly TrialAnswer[];
  /** Stored completions whose record is no longer in the run's dataset. */
  readonly withoutRecord: number;
  /** How many there are; more than `answers` where they were limited. */
  readonly total: number;
}

/** A run's stored completions; with a limit, whole steps spread over the run, and whole groups. */
export function storedAnswers(store: Store, runId: number, task: Task, limit = Number.POSITIVE_INFINITY): TrialAnswers {
  const run = requireRun(store, runId);
  const steps = store.samples.steps(runId);
  if (steps.length === 0)
    throw inputError('NO_SAMPLES', `Run ${runId} has no stored completions`, 'Choose a run with sample_steps.');
  const { dataset, task: trained } = savedConfig(run);
  const fix = `Run ${runId} trained the task "${basename(trained)}" on these records. Give a version of it, or restore the dataset if it was changed.`;
  const records = new Map(readDataset(dataset, task, fix).map((record) => [record.id, record]));
  const total = store.samples.count(runId);
  let withoutRecord = 0;
  const answers: TrialAnswer[] = [];
  const perStep = Math.ceil(total / steps.length);
  const room = Math.max(1, Math.floor(limit / Math.max(1, perStep)));
  for (const step of spread(steps, room)) {
    const samples = store.samples.byStep(runId, step);
    const known = samples.filter(({ recordId }) => records.has(recordId));
    withoutRecord += samples.length - known.length;
    for (const group of Map.groupBy(known, (sample) => sample.group).values()) {
      if (answers.length > 0 && answers.length + group.length > limit) break;
      append(
        answers,
        group.flatMap((sample) => trialAnswer(sample, records.get(sample.recordId))),
      );
    }
  }
  if (answers.length === 0)
    throw inputError(
      'NO_RECORDS',
      `None of the records of run ${runId}'s completions is in ${dataset}`,
      'Restore the dataset that the run was trained on.',
    );
  return { answers, withoutRecord, total };
}

/** At most `count` of them, the first and the last among them, in order. */
function spread(steps: readonly number[], count: number): readonly number[] {
  if (steps.length <= count) return steps;
  if (count === 1) return steps.slice(-1);
  return Array.from({ length: count }, (_, i) => steps[Math.round((i * (steps.length - 1)) / (count - 1))] ?? 0);
}

function trialAnswer(sample: StoredSample, record: Answer['record'] | undefined): TrialAnswer[] {
  if (record === undefined) return [];
  const { length, terminated, step, group, reward, promptMessages: asked } = sample;
  return [
    {
      answer: {
        record,
        ...(asked && { asked }),
        ...writtenOf(sample),
        tokens: length,
        finish: terminated ? 'stop' : 'length',
      },
      group: `${step}:${group}`,
      step,
      before: Number.isFinite(reward) ? reward : null,
    },
  ];
}

/** Of a task's examples, which are read here. */
const MOST_BYTES = 16 * 2 ** 20;

/** The completions of a file, such as a task's examples. */
export function fileAnswers(file: string, task: Task): TrialAnswers {
  const answers = readCompletions(file, task, MOST_BYTES).map(({ answer, group }) => ({
    answer,
    group,
    step: null,
    before: null,
  }));
  return { answers, withoutRecord: 0, total: answers.length };
}

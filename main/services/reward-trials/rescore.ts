/**
 * What the completions that a run has stored would get under another version of its reward, and what that would have
 * changed: the order of completions in a group, and so the sign of the gradient. Nothing is stored.
 */

import { isDeepStrictEqual } from 'node:util';
import { BraidError } from '../../errors.ts';
import { largest, smallest } from '../../lists.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import type { ExternalAccess } from '../../tasks/external/access.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import { taskHash } from '../../tasks/folder/source.ts';
import { withGroups } from '../../tasks/groups.ts';
import { openTask, taskFacts } from '../../tasks/index.ts';
import type { TaskFacts } from '../../tasks/task.ts';
import { counted } from '../../text/format.ts';
import { nanStats } from '../../trainer/advantages/advantages.ts';
import { requireRun } from '../runs/runs.ts';
import { savedConfig } from '../runs/saved-config.ts';
import { runTask } from '../tasks/run-task.ts';
import { type Rewarded, rewarded } from './dry-run.ts';
import { storedAnswers, type TrialAnswer, type TrialAnswers } from './trial-answers.ts';

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
  /** Groups whose rewards are all equal, as they were and under this version. */
  readonly dead_before: number;
  readonly dead_after: number;
  readonly steps: readonly RescoredStep[];
  /** What speaks against the comparison, in sentences. */
  readonly notes: readonly string[];
}

/** A completion with both of its rewards, NaN where it has none. */
export interface RescoredAnswer {
  readonly trial: TrialAnswer;
  readonly before: number;
  readonly after: number;
}

/** A group in which the order changes. */
export interface ChangedGroup {
  readonly step: number;
  readonly recordId: string;
  /** Completions whose gradient changes its sign. */
  readonly signs: number;
  readonly answers: readonly RescoredAnswer[];
}

/** Scores a run's stored completions again, step by step. */
export function rescoreRun(
  store: Store,
  runId: number,
  source: FolderSource,
  rewardWorker: string,
  access: ExternalAccess | null = null,
): Rescored {
  const task = openTask(source, rewardWorker, access);
  try {
    const run = requireRun(store, runId);
    const given = storedAnswers(store, runId, task);
    const scored = rewarded(asWeighed(store, run, task), withGroups(given.answers));
    return rescored(run, source, given, handledAs(run, given, scored));
  } finally {
    task.close();
  }
}

/**
 * The task with the weights that a run gave its components instead of the task's: a version of the reward is compared
 * with the run, not other weights.
 */
export function asWeighed<F extends Pick<TaskFacts, 'rewardNames' | 'rewardWeights'>>(
  store: Store,
  run: RunRow,
  task: F,
): F {
  const { reward_weights: given } = savedConfig(run);
  const own = given === null ? null : factsOfRun(store, run);
  return isDeepStrictEqual(own?.rewardNames, task.rewardNames) ? { ...task, rewardWeights: given } : task;
}

/** Rewards as the run has those of failed completions: by its reward_failure 0, or none in their whole group. */
export function handledAs(run: RunRow, { answers }: TrialAnswers, scored: readonly Rewarded[]): readonly Rewarded[] {
  const { reward_failure: policy } = savedConfig(run);
  const failed = new Set(scored.flatMap(({ failure }, i) => (failure === null ? [] : [answers[i]?.group])));
  if (policy === 'zero') return scored.map((one) => (one.failure === null ? one : { ...one, reward: 0 }));
  if (policy !== 'skip_group') return scored;
  return scored.map((one, i) => (failed.has(answers[i]?.group) ? { ...one, reward: Number.NaN } : one));
}

/** null: the copy of its task is gone. */
function factsOfRun(store: Store, run: RunRow): TaskFacts | null {
  try {
    return taskFacts(runTask(store, run));
  } catch (error) {
    if (error instanceof BraidError) return null;
    throw error;
  }
}

/** The numbers of a re-scored run. */
export function rescored(
  run: Pick<RunRow, 'id' | 'taskHash'>,
  source: FolderSource,
  given: TrialAnswers,
  scored: readonly Rewarded[],
): Rescored {
  const all = pairs(given, scored);
  const groups = [...Map.groupBy(all, ({ trial }) => trial.group).values()];
  const steps = [...Map.groupBy(all, ({ trial }) => trial.step ?? 0)];
  return {
    run_id: run.id,
    task: source.name,
    hash: taskHash(source),
    n: all.length,
    without_record: given.withoutRecord,
    failures: scored.filter(({ failure }) => failure !== null).length,
    ...means(all),
    groups: groups.length,
    order_changed: groups.filter(changesOrder).length,
    sign_changed: groups.reduce((sum, group) => sum + changedSigns(group), 0),
    dead_before: groups.filter((group) => isDead(group.map(({ before }) => before))).length,
    dead_after: groups.filter((group) => isDead(group.map(({ after }) => after))).length,
    steps: steps.map(([step, of]) => ({ step, n: of.length, ...means(of) })),
    notes: taskHash(source) === run.taskHash ? repetitionNotes(all.filter(isChanged).length) : [],
  };
}

function repetitionNotes(changed: number): string[] {
  if (changed === 0) return [];
  return [
    `The run was trained with this version, but ${counted(changed, 'completion')} ${changed === 1 ? 'gets' : 'get'} another reward now: it depends on more than the completion, such as chance, the clock, or a program or server that has changed. A resumed run may differ.`,
  ];
}

/** The groups whose order changes, those with most changed signs first. */
export function changedGroups(given: TrialAnswers, scored: readonly Rewarded[], most: number): ChangedGroup[] {
  return [...Map.groupBy(pairs(given, scored), ({ trial }) => trial.group).values()]
    .filter(changesOrder)
    .map((answers) => ({
      step: answers[0]?.trial.step ?? 0,
      recordId: answers[0]?.trial.answer.record.id ?? '',
      signs: changedSigns(answers),
      answers,
    }))
    .sort((a, b) => b.signs - a.signs || b.step - a.step)
    .slice(0, most);
}

function pairs({ answers }: TrialAnswers, scored: readonly Rewarded[]): RescoredAnswer[] {
  return answers
    .slice(0, scored.length)
    .map((trial, i) => ({ trial, before: trial.before ?? Number.NaN, after: scored[i]?.reward ?? Number.NaN }));
}

/** Stored rewards are in single precision. */
const EQUAL = 1e-6;

type Pair = Pick<RescoredAnswer, 'before' | 'after'>;

/** Not only by rounding; a failure that was none, or the other way round, is a change. */
function isChanged({ before, after }: Pair): boolean {
  if (Number.isNaN(before) || Number.isNaN(after)) return Number.isNaN(before) !== Number.isNaN(after);
  return direction(after, before) !== 0;
}

/** Which of two rewards is higher: 1 or -1; 0 if they differ by rounding only. */
function direction(a: number, b: number): number {
  return Math.abs(a - b) > EQUAL * Math.max(1, Math.abs(b)) ? Math.sign(a - b) : 0;
}

function means(of: readonly Pair[]): Pair {
  return {
    before: nanStats(of.map(({ before }) => before)).mean,
    after: nanStats(of.map(({ after }) => after)).mean,
  };
}

function changesOrder(group: readonly Pair[]): boolean {
  return group.some((a, i) =>
    group.slice(i + 1).some((b) => direction(a.before, b.before) * direction(a.after, b.after) < 0),
  );
}

function isDead(rewards: readonly number[]): boolean {
  const real = rewards.filter(Number.isFinite);
  return real.length > 1 && largest(real) - smallest(real) < EQUAL;
}

/** A completion's advantage has the sign of its reward less its group's mean. */
function changedSigns(group: readonly Pair[]): number {
  const mean = means(group);
  return group.filter(({ before, after }) => direction(before, mean.before) * direction(after, mean.after) < 0).length;
}

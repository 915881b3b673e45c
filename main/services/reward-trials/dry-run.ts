/** What a reward would give: over completions of a file, or those that an old run has stored. Nothing is stored. */

import { missingFields } from '../../tasks/folder/missing-fields.ts';
import type { FolderSource } from '../../tasks/folder/source.ts';
import { withGroups } from '../../tasks/groups.ts';
import { type Answer, type Score, type Task, type TaskRecord, totalReward } from '../../tasks/task.ts';
import { deadGroups, nanStats } from '../../trainer/advantages/advantages.ts';
import { type GivenAnswer, readCompletions } from './completions-file.ts';

/** A scored completion; `reward` is the weighted sum, NaN if the reward failed. */
export interface Rewarded extends Score {
  readonly reward: number;
}

/** Field names as in `--json`. */
export interface DryRun {
  readonly n: number;
  readonly mean: number;
  readonly std: number;
  /** Groups of two or more completions of one record. */
  readonly groups: number;
  /** Those whose rewards are all equal: nothing can be learned from them. */
  readonly dead_groups: number;
  /** Those whose rewards all failed. */
  readonly failed_groups: number;
  /** Completions whose reward failed. */
  readonly failures: number;
  readonly components: Readonly<Record<string, { readonly mean: number; readonly std: number }>>;
  /** The check's mean; absent without one. */
  readonly check?: number;
  readonly ms_per_completion: number;
  /** The first failures. */
  readonly failed: readonly { readonly line: number; readonly reason: string }[];
  readonly best: Extreme | null;
  readonly worst: Extreme | null;
  /** Fields that the reward reads and some records lack. */
  readonly notes: readonly string[];
}

interface Extreme {
  readonly line: number;
  readonly completion: string;
  readonly reward: number;
}

const MOST_FAILED = 20;

/** Scores a file of completions with a task, which `source` was opened to. */
export function dryRun(task: Task, source: FolderSource, file: string): DryRun {
  const given = readCompletions(file, task);
  const answers = withGroups(given);
  // The thread's start isn't part of the time that a completion takes.
  task.score([]);
  const began = performance.now();
  const scored = rewarded(task, answers);
  const ms = (performance.now() - began) / answers.length;
  const rewards = scored.map(({ reward }) => reward);
  const { mean, std } = nanStats(rewards);
  const groups = [...Map.groupBy(given.keys(), (i) => given[i]?.group).values()].filter((rows) => rows.length > 1);
  const real = groups
    .map((rows) => rows.flatMap((i) => (Number.isFinite(rewards[i]) ? (rewards[i] ?? []) : [])))
    .filter((own) => own.length > 0);
  // A single reward that is left has no spread: nothing can be learned from it either.
  const groupStd = Float32Array.from(real, (own) => nanStats(own).std || 0);
  const failed = scored.flatMap(({ failure }, i) =>
    failure === null ? [] : [{ line: given[i]?.line ?? 0, reason: failure }],
  );
  return {
    n: given.length,
    mean,
    std,
    groups: groups.length,
    dead_groups: deadGroups({ groupStd }).length,
    failed_groups: groups.length - real.length,
    failures: failed.length,
    components: Object.fromEntries(
      task.rewardNames.map((name) => {
        const { mean, std } = nanStats(scored.map(({ components }) => components[name] ?? Number.NaN));
        return [name, { mean, std }];
      }),
    ),
    ...(task.check !== null && { check: nanStats(task.check.measure(answers)).mean }),
    ms_per_completion: ms,
    failed: failed.slice(0, MOST_FAILED),
    ...extremes(given, rewards),
    notes: missingFields(source, recordsOf(answers)),
  };
}

/** The records that completions are of, each once. */
export function recordsOf(answers: readonly Answer[]): TaskRecord[] {
  return [...new Map(answers.map(({ record }) => [record.id, record])).values()];
}

/** Scores completions in their groups, with the weighted sum of each. */
export function rewarded(task: Task, answers: readonly Answer[]): Rewarded[] {
  return task.score(answers).map((score) => ({ ...score, reward: totalReward(task, score.components) }));
}

function extremes(given: readonly GivenAnswer[], rewards: readonly number[]): Pick<DryRun, 'best' | 'worst'> {
  const ranked = [...given.keys()]
    .filter((i) => Number.isFinite(rewards[i]))
    .sort((a, b) => (rewards[b] ?? 0) - (rewards[a] ?? 0));
  const extreme = (i: number | undefined): Extreme | null => {
    const one = i === undefined ? undefined : given[i];
    if (i === undefined || one === undefined) return null;
    return { line: one.line, completion: one.answer.completion, reward: rewards[i] ?? Number.NaN };
  };
  return { best: extreme(ranked[0]), worst: extreme(ranked.at(-1)) };
}

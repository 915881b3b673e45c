/** A dry run in numbers: what a reward gives over completions, and what could be learned from it. Pure. */

import { largest, smallest } from '../../lists.ts';
import { type Written, writtenOf } from '../../samples/completion.ts';
import { type Score, type TaskFacts, totalReward } from '../../tasks/task.ts';
import { nanStats } from '../../trainer/advantages/advantages.ts';
import type { ScoredAnswers } from '../../trainer/protocol/reward-calls.ts';
import { type GamingReport, gamingReport } from './gaming.ts';
import type { TrialAnswers } from './trial-answers.ts';

export interface GroupSpread {
  readonly recordId: string;
  readonly step: number | null;
  readonly n: number;
  readonly mean: number;
  readonly std: number;
  readonly lowest: number;
  readonly highest: number;
}

/** A completion with the parts of its reward. */
export interface ScoredCompletion extends Written {
  readonly recordId: string;
  readonly step: number | null;
  readonly prompt: string;
  readonly reward: number;
  readonly components: Readonly<Record<string, number>>;
}

export interface TrialReport {
  /** Completions that were scored, of those that were given: fewer where time ran out. */
  readonly n: number;
  readonly given: number;
  /** How many the source has. */
  readonly total: number;
  readonly mean: number;
  readonly std: number;
  /** Of each completion; NaN for a failed one. */
  readonly rewards: readonly number[];
  /** Of two or more completions. */
  readonly groups: readonly GroupSpread[];
  /** Groups whose rewards are all equal: nothing is learned from them. */
  readonly dead: number;
  /** Groups whose rewards all failed. */
  readonly failedGroups: number;
  /** Pairs of completions of one group, and how many of them have equal rewards. */
  readonly pairs: number;
  readonly ties: number;
  readonly failures: number;
  /** Each reason once, the most frequent first. */
  readonly reasons: readonly { readonly reason: string; readonly n: number }[];
  readonly components: readonly {
    readonly name: string;
    readonly weight: number;
    readonly mean: number;
    readonly std: number;
  }[];
  readonly check: { readonly name: string; readonly mean: number } | null;
  readonly msPerCompletion: number;
  readonly best: readonly ScoredCompletion[];
  readonly worst: readonly ScoredCompletion[];
  readonly gaming: GamingReport;
  /** Fields that the reward reads and some records lack. */
  readonly notes: readonly string[];
}

/** Completions shown at either end. */
const SHOWN = 3;
const MOST_REASONS = 5;

/** Rewards closer than this are equal: they differ by rounding only. */
const TIE = 1e-9;

/** The report of a dry run. `check`: the name of the task's check; `notes`: what its records lack. */
export function trialReport(
  facts: TaskFacts,
  check: string | null,
  given: TrialAnswers,
  scored: ScoredAnswers,
  notes: readonly string[],
): TrialReport {
  const { scores, checks, ms } = scored;
  const answers = given.answers.slice(0, scores.length);
  const rewards = scores.map(({ components, failure }) =>
    failure === null ? totalReward(facts, components) : Number.NaN,
  );
  const { mean, std } = nanStats(rewards);
  const groups = [...Map.groupBy(answers.keys(), (i) => answers[i]?.group).values()].filter(({ length }) => length > 1);
  const spreads = groups.map((rows): GroupSpread => {
    const own = rows.map((i) => rewards[i] ?? Number.NaN).filter(Number.isFinite);
    const { answer, step = null } = answers[rows[0] ?? 0] ?? {};
    return {
      recordId: answer?.record.id ?? '',
      step,
      n: rows.length,
      ...nanStats(own),
      lowest: smallest(own),
      highest: largest(own),
    };
  });
  // A group without any reward has no lowest.
  const withRewards = spreads.filter(({ lowest }) => Number.isFinite(lowest));
  const failed = scores.flatMap(({ failure }) => failure ?? []);
  return {
    n: scores.length,
    given: given.answers.length,
    total: given.total,
    mean,
    std,
    rewards,
    groups: spreads,
    dead: withRewards.filter(({ lowest, highest }) => !(highest - lowest > TIE)).length,
    failedGroups: spreads.length - withRewards.length,
    ...tieCounts(groups, rewards),
    failures: failed.length,
    reasons: [...Map.groupBy(failed, (reason) => reason)]
      .map(([reason, { length }]) => ({ reason, n: length }))
      .sort((a, b) => b.n - a.n)
      .slice(0, MOST_REASONS),
    components: facts.rewardNames.map((name, k) => {
      const { mean, std } = nanStats(scores.map(({ components }) => components[name] ?? Number.NaN));
      return { name, weight: facts.rewardWeights?.[k] ?? 1, mean, std };
    }),
    check: check === null || checks === null ? null : { name: check, mean: nanStats(checks).mean },
    msPerCompletion: scores.length === 0 ? 0 : ms / scores.length,
    ...extremes(answers, scores, rewards),
    gaming: gamingReport(facts, check, answers, scored),
    notes,
  };
}

function tieCounts(groups: readonly (readonly number[])[], rewards: readonly number[]) {
  let [pairs, ties] = [0, 0];
  for (const rows of groups) {
    const own = rows.map((i) => rewards[i] ?? Number.NaN).filter(Number.isFinite);
    pairs += (own.length * (own.length - 1)) / 2;
    own.forEach((a, i) => {
      ties += own.slice(i + 1).filter((b) => Math.abs(a - b) <= TIE).length;
    });
  }
  return { pairs, ties };
}

function extremes(
  answers: TrialAnswers['answers'],
  scores: readonly Score[],
  rewards: readonly number[],
): Pick<TrialReport, 'best' | 'worst'> {
  const ranked = [...answers.keys()]
    .filter((i) => Number.isFinite(rewards[i]))
    .sort((a, b) => (rewards[b] ?? 0) - (rewards[a] ?? 0));
  const shown = (i: number): ScoredCompletion[] => {
    const one = answers[i];
    if (one === undefined) return [];
    const { record } = one.answer;
    const { components = {} } = scores[i] ?? {};
    const reward = rewards[i] ?? Number.NaN;
    const asked = { recordId: record.id, step: one.step, prompt: record.prompt };
    return [{ ...asked, ...writtenOf(one.answer), reward, components }];
  };
  return {
    best: ranked.slice(0, SHOWN).flatMap(shown),
    worst: ranked.slice(SHOWN).slice(-SHOWN).reverse().flatMap(shown),
  };
}

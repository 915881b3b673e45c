/**
 * Signs that a reward is gamed: which parts go together, whether it is paid for length, and how length and form drift
 * over a run while the check, which no reward looks at, doesn't follow. Pure.
 */

import { type TaskFacts, totalReward } from '../../tasks/task.ts';
import { toolFindings } from '../../tasks/tool-use.ts';
import { repetition } from '../../text/repetition.ts';
import { sourceWords } from '../../text/source-words.ts';
import { nanStats } from '../../trainer/advantages/advantages.ts';
import type { ScoredAnswers } from '../../trainer/protocol/reward-calls.ts';
import type { TrialAnswer } from './trial-answers.ts';

export interface DriftStep {
  readonly step: number;
  readonly reward: number;
  /** NaN without one. */
  readonly check: number;
  readonly tokens: number;
  /** Share of completions that were cut off. */
  readonly cutOff: number;
  /** Share of repeated sequences of four words. */
  readonly repetition: number;
}

export interface GamingReport {
  /** The components, then the whole reward, the check, the length and the repetition. */
  readonly names: readonly string[];
  /** Pearson's r of each with each; NaN where one of them doesn't vary. */
  readonly correlations: readonly (readonly number[])[];
  /** By step of the run; empty for completions of no run. */
  readonly drift: readonly DriftStep[];
  /** What stands out, a sentence each. */
  readonly findings: readonly string[];
}

/** From here on two quantities say the same. */
const SAME = 0.95;
/** Components that move the reward about as far as one another, by this share, can cancel each other out. */
const EVEN = 0.75;
/** From here on length explains much of the reward. */
const STRONG = 0.6;
/** Completions below which a correlation says little. */
const FEWEST = 20;
/** A change over the run of this many standard deviations counts. */
const RISE = 0.5;

/** Looks for signs of gaming. */
export function gamingReport(
  facts: TaskFacts,
  check: string | null,
  answers: readonly TrialAnswer[],
  { scores, checks }: Omit<ScoredAnswers, 'ms'>,
): GamingReport {
  const rewards = scores.map(({ components }) => totalReward(facts, components));
  const tokens = answers.map(({ answer }) => answer.tokens);
  const repeated = answers.map(({ answer }) => repetition(sourceWords(answer.completion)));
  const parts = facts.rewardNames.length > 1 ? facts.rewardNames : [];
  const columns: readonly (readonly [string, readonly number[]])[] = [
    ...parts.map((name) => [name, scores.map(({ components }) => components[name] ?? Number.NaN)] as const),
    ['reward', rewards],
    ...(check === null || checks === null ? [] : [[check, checks] as const]),
    ['length', tokens],
    ['repetition', repeated],
  ];
  const correlations = columns.map(([, a]) => columns.map(([, b]) => correlation(a, b)));
  const drift = driftOf(answers, { rewards, checks, tokens, repeated });
  const names = columns.map(([name]) => name);
  const conversations = answers.flatMap(({ answer }) => (answer.messages === undefined ? [] : [answer.messages]));
  const findings =
    scores.length < FEWEST
      ? []
      : [
          ...toolFindings(facts.toolNames ?? [], conversations),
          ...together(weighed(facts, scores), names, correlations, check),
          ...drifted(drift, check),
        ];
  return { names, correlations, drift, findings };
}

/** Pearson's r over the pairs in which both are numbers. */
export function correlation(a: readonly number[], b: readonly number[]): number {
  const both = [...a.keys()].filter((i) => Number.isFinite(a[i]) && Number.isFinite(b[i]));
  const [x, y] = [a, b].map((of) => nanStats(both.map((i) => of[i] ?? 0)));
  if (x === undefined || y === undefined || both.length < 2 || !(x.std > 1e-12) || !(y.std > 1e-12)) return Number.NaN;
  const products = both.reduce((sum, i) => sum + ((a[i] ?? 0) - x.mean) * ((b[i] ?? 0) - y.mean), 0);
  // nanStats has the sample's standard deviation, by n - 1.
  return Math.max(-1, Math.min(1, products / ((both.length - 1) * x.std * y.std)));
}

/** A component and how far it moves the reward: its standard deviation times its weight. */
interface Part {
  readonly name: string;
  readonly moves: number;
}

/** The components that count in the reward, if there are several. */
function weighed({ rewardNames, rewardWeights }: TaskFacts, scores: ScoredAnswers['scores']): readonly Part[] {
  const parts = rewardNames.map((name, k): Part => {
    const { std } = nanStats(scores.map(({ components }) => components[name] ?? Number.NaN));
    return { name, moves: (rewardWeights?.[k] ?? 1) * std };
  });
  return parts.filter(({ moves }) => moves !== 0 && !Number.isNaN(moves));
}

function together(
  parts: readonly Part[],
  names: readonly string[],
  correlations: readonly (readonly number[])[],
  check: string | null,
): string[] {
  const r = (a: string, b: string): number => correlations[names.indexOf(a)]?.[names.indexOf(b)] ?? Number.NaN;
  const twins = parts.flatMap((a, i) =>
    parts.slice(i + 1).flatMap((b) => {
      const value = r(a.name, b.name);
      if (!(Math.abs(value) > SAME)) return [];
      const pair = `${a.name} and ${b.name}`;
      // In the reward, a negative weight turns a component around.
      if (value * a.moves * b.moves > 0)
        return [`${pair} say the same (r ${signed(value)}): one of them adds nothing but weight.`];
      const [less = 0, more = 1] = [Math.abs(a.moves), Math.abs(b.moves)].sort((x, y) => x - y);
      const isEven = less >= EVEN * more;
      return [`${pair} ${isEven ? 'cancel each other out' : 'work against each other'} (r ${signed(value)}).`];
    }),
  );
  const length = r('reward', 'length');
  const paid =
    Math.abs(length) < STRONG || Number.isNaN(length)
      ? []
      : [`The reward is paid for ${length > 0 ? 'long' : 'short'} completions (r ${signed(length)} with length).`];
  const agreement = check === null ? Number.NaN : r('reward', check);
  const against =
    agreement < 0 ? [`The reward goes against ${check} (r ${signed(agreement)}), which no reward looks at.`] : [];
  const repeats = r('reward', 'repetition');
  const repeating = repeats > STRONG ? [`The reward is paid for repetition (r ${signed(repeats)}).`] : [];
  return [...twins, ...paid, ...against, ...repeating];
}

interface Columns {
  readonly rewards: readonly number[];
  readonly checks: readonly number[] | null;
  readonly tokens: readonly number[];
  readonly repeated: readonly number[];
}

function driftOf(answers: readonly TrialAnswer[], { rewards, checks, tokens, repeated }: Columns): DriftStep[] {
  const steps = Map.groupBy(answers.keys(), (i) => answers[i]?.step ?? null);
  steps.delete(null);
  return [...steps].flatMap(([step, rows]) => {
    if (step === null) return [];
    const mean = (of: readonly number[]): number => nanStats(rows.map((i) => of[i] ?? Number.NaN)).mean;
    return [
      {
        step,
        reward: mean(rewards),
        check: checks === null ? Number.NaN : mean(checks),
        tokens: mean(tokens),
        repetition: mean(repeated),
        cutOff: rows.filter((i) => answers[i]?.answer.finish === 'length').length / rows.length,
      },
    ];
  });
}

function drifted(drift: readonly DriftStep[], check: string | null): string[] {
  const [first, last] = [drift[0], drift.at(-1)];
  if (first === undefined || last === undefined || first === last) return [];
  const rise = (of: (step: DriftStep) => number): number => {
    const { std } = nanStats(drift.map(of));
    return std > 1e-12 ? (of(last) - of(first)) / std : 0;
  };
  const rises = rise(({ reward }) => reward) > RISE;
  if (!rises) return [];
  const from = (of: (step: DriftStep) => number, digits = 2): string =>
    `from ${of(first).toFixed(digits)} to ${of(last).toFixed(digits)}`;
  const findings: string[] = [];
  const climbs = `The reward rises ${from(({ reward }) => reward)}`;
  if (check !== null && rise(({ check }) => check) < RISE)
    findings.push(`${climbs}, and ${check} doesn't follow (${from(({ check }) => check)}).`);
  if (Math.abs(last.tokens - first.tokens) > 0.5 * Math.max(1, first.tokens))
    findings.push(`${climbs} while the length goes ${from(({ tokens }) => tokens, 0)} tokens.`);
  if (last.cutOff - first.cutOff > 0.2)
    findings.push(`${climbs} while more completions are cut off (${from(({ cutOff }) => cutOff)}).`);
  if (last.repetition - first.repetition > 0.1)
    findings.push(`${climbs} while completions repeat themselves more (${from(({ repetition }) => repetition)}).`);
  return findings;
}

function signed(r: number): string {
  return `${r < 0 ? '−' : ''}${Math.abs(r).toFixed(2)}`;
}

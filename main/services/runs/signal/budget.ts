/**
 * The signal budget of a run: which of the groups that it sampled had something to teach, and what each setting that
 * avoids groups without spread would have saved, in seconds, on the run's own history. Pure.
 *
 * A saving compares seconds per group that teaches: S seconds of the run taught U such groups; a setting under which
 * the same steps take S' and teach U' saves S − U · S' / U'. Estimates: the history is that of the run as it was.
 */
import type { TrainConfig } from '../../../trainer/config.ts';
import type { GroupOutcome } from '../../../trainer/events.ts';

/** One step that sampled groups, with what it and the steps that reuse its groups took, in seconds. */
export interface SignalStep {
  readonly step: number;
  readonly groups: readonly GroupOutcome[];
  /** Sampling and scoring completions. */
  readonly sampling: number;
  /** Forward and backward passes. */
  readonly training: number;
  readonly total: number;
}

/** Shares of the groups sampled from step `from` to step `to`; they add up to 1. */
export interface SignalBin {
  readonly from: number;
  readonly to: number;
  readonly teaches: number;
  readonly solved: number;
  readonly dead: number;
}

export const SIGNAL_SETTINGS = ['dynamic_sampling', 'greso_exploration', 'pods_update_size'] as const;
export type SignalSetting = (typeof SIGNAL_SETTINGS)[number];

export interface SignalSaving {
  readonly setting: SignalSetting;
  /** Whether the run used it: then there is nothing to save. */
  readonly isUsed: boolean;
  /** Negative: it would have cost that much. null: not known, as no group taught anything, or used already. */
  readonly seconds: number | null;
  /** What switches it on in the next run. */
  readonly change: Partial<TrainConfig>;
}

export interface SignalBudget {
  readonly bins: readonly SignalBin[];
  /** Distinct prompts, by the outcome of the last group that each had. */
  readonly prompts: Readonly<Record<GroupOutcome['outcome'], number>>;
  readonly groups: number;
  /** Of the steps that sampled, and the part of it spent on groups that taught nothing. */
  readonly seconds: number;
  readonly wasted: number;
  readonly savings: readonly SignalSaving[];
}

/** Points over a run. */
const BINS = 60;
/** Rounds of dynamic sampling, and GRESO's probability to draw a prompt again after one dead group. */
const ROUNDS = 3;
const EXPLORATION = 0.5;

type SignalConfig = Pick<TrainConfig, SignalSetting | 'num_generations' | 'per_device_train_batch_size'>;

/** The budget of a run's steps that sampled groups, oldest first; null without any. */
export function signalBudget(steps: readonly SignalStep[], config: SignalConfig): SignalBudget | null {
  const groups = steps.flatMap((step) => step.groups);
  if (groups.length === 0) return null;
  const wasted = sum(steps, (step) => (step.sampling + step.training) * (1 - teachingShare(step.groups)));
  return {
    bins: binsOf(steps),
    prompts: count([...new Map(groups.map((group) => [group.recordId, group])).values()]),
    groups: groups.length,
    seconds: sum(steps, ({ total }) => total),
    wasted,
    savings: [dynamicSampling(steps, config), greso(steps, groups, config), pods(steps, config)].flatMap(
      (saving) => saving ?? [],
    ),
  };
}

function binsOf(steps: readonly SignalStep[]): SignalBin[] {
  const size = Math.ceil(steps.length / BINS);
  return Array.from({ length: Math.ceil(steps.length / size) }, (_, i) => {
    const part = steps.slice(i * size, (i + 1) * size);
    const groups = part.flatMap((step) => step.groups);
    const { teaches, solved, dead } = count(groups);
    const [from, to] = [part[0]?.step ?? 0, part.at(-1)?.step ?? 0];
    const share = (number: number): number => number / groups.length;
    return { from, to, teaches: share(teaches), solved: share(solved), dead: share(dead) };
  });
}

/** Each round samples the groups again that are dead, and of those the same share is dead once more. */
function dynamicSampling(steps: readonly SignalStep[], config: SignalConfig): SignalSaving {
  const isUsed = config.dynamic_sampling > 0;
  let [seconds, teaching] = [0, 0];
  for (const { groups, sampling, total } of steps) {
    const dead = 1 - teachingShare(groups);
    const again = Array.from({ length: ROUNDS }, (_, round) => dead ** (round + 1)).reduce((a, b) => a + b);
    seconds += total + sampling * again;
    teaching += groups.length * (1 - dead ** (ROUNDS + 1));
  }
  return {
    setting: 'dynamic_sampling',
    isUsed,
    seconds: isUsed ? null : saved(steps, seconds, teaching),
    change: { dynamic_sampling: ROUNDS },
  };
}

/** A group counts as far as its prompt would have been drawn, given the outcomes of its groups before. */
function greso(
  steps: readonly SignalStep[],
  groups: readonly GroupOutcome[],
  { greso_exploration }: SignalConfig,
): SignalSaving {
  const isUsed = greso_exploration !== null;
  const deadInRow = new Map<string, number>();
  let [drawn, teaching] = [0, 0];
  for (const { recordId, outcome } of groups) {
    const before = deadInRow.get(recordId) ?? 0;
    const probability = EXPLORATION ** before;
    drawn += probability;
    if (outcome === 'teaches') teaching += probability;
    deadInRow.set(recordId, outcome === 'teaches' ? 0 : before + 1);
  }
  // The places of prompts that were skipped go to others, of which the same share teaches.
  const seconds = sum(steps, ({ total }) => total);
  return {
    setting: 'greso_exploration',
    isUsed,
    seconds: isUsed ? null : saved(steps, seconds, (teaching / drawn) * groups.length),
    change: { greso_exploration: EXPLORATION },
  };
}

/** Half of each group is left out of the loss; as many groups as before, in smaller micro-batches. */
function pods(steps: readonly SignalStep[], config: SignalConfig): SignalSaving | null {
  const size = Math.floor(config.num_generations / 2);
  const isUsed = config.pods_update_size !== null;
  if (size < 2 && !isUsed) return null;
  const rows = (config.per_device_train_batch_size / config.num_generations) * size;
  if (!isUsed && !Number.isInteger(rows)) return null;
  const training = sum(steps, (step) => step.training);
  return {
    setting: 'pods_update_size',
    isUsed,
    seconds: isUsed ? null : training * (1 - size / config.num_generations),
    change: isUsed ? {} : { pods_update_size: size, per_device_train_batch_size: rows },
  };
}

/** Seconds saved if the same steps took `seconds` and taught `teaching` groups. */
function saved(steps: readonly SignalStep[], seconds: number, teaching: number): number | null {
  const taught = sum(steps, ({ groups }) => count(groups).teaches);
  return taught === 0 ? null : sum(steps, ({ total }) => total) - taught * (seconds / teaching);
}

function teachingShare(groups: readonly GroupOutcome[]): number {
  return groups.length === 0 ? 0 : count(groups).teaches / groups.length;
}

function count(groups: readonly GroupOutcome[]): Record<GroupOutcome['outcome'], number> {
  const counts = { teaches: 0, solved: 0, dead: 0 };
  for (const { outcome } of groups) counts[outcome]++;
  return counts;
}

function sum<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((total, value) => total + of(value), 0);
}

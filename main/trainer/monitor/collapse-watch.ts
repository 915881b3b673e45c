/**
 * The collapse watch: checks each step's metrics and reports, in plain words, when a run has stopped learning.
 * A pure state machine: `watchStep(state, metrics, settings)` returns the next state and any messages; the state
 * is plain JSON, so that a resumed run continues watching.
 *
 * A rule warns after `patience` consecutive bad steps, then stays silent until `patience` healthy steps have passed.
 * Steps that lack a rule's metrics (a generation is reused) count neither way. A group that is dead because all its
 * completions are (nearly) perfect is a success: that gives a notice, never a warning.
 */

import type { Metrics, WarningRule } from '../protocol/trainer-events.ts';
import {
  type Findings,
  followReward,
  NO_GRADIENT,
  NO_TREND,
  type RewardTrend,
  type Trouble,
  troubles,
  type WatchSettings,
} from './collapse-rules.ts';

export type { WatchSettings } from './collapse-rules.ts';

/** A message of the watch: a warning from a rule, or a harmless notice. */
export interface WatchReport {
  readonly message: string;
  readonly remedy: string;
}
export interface WatchWarning extends WatchReport {
  readonly rule: WarningRule;
}
export interface WatchNotice extends WatchReport {
  readonly topic: 'learned' | 'loss_zero' | 'nothing_learned';
}

interface RuleState {
  /** Consecutive bad steps, and consecutive healthy steps since the last warning. */
  readonly streak: number;
  readonly healthy: number;
  /** The severity of the last warning, until recovery; 0: none. */
  readonly warned: number;
}

/** Plain JSON. */
export interface WatchState extends RewardTrend {
  readonly rules: Readonly<Record<WarningRule, RuleState>>;
  /** Mean entropy of the first steps, and their number so far. */
  readonly startEntropy: number | null;
  readonly startSteps: number;
  /** The newest reward: steps that reuse a generation have none. */
  readonly lastReward: number | null;
  readonly learnedStreak: number;
  readonly said: readonly WatchNotice['topic'][];
}

export interface WatchResult {
  readonly state: WatchState;
  readonly warnings: readonly WatchWarning[];
  readonly notices: readonly WatchNotice[];
}

/** A loss up to here is called 0. */
const SMALL_LOSS = 1e-4;

/** Steps over which the initial entropy is averaged. */
const START_STEPS = 3;

export const RULES = [
  'not_finite',
  'dead_groups',
  'repetition',
  'entropy',
  'kl',
  'no_progress',
] as const satisfies readonly WarningRule[];
const quiet: RuleState = { streak: 0, healthy: 0, warned: 0 };

/** The state before the first step. */
export function startWatch(): WatchState {
  return {
    rules: {
      not_finite: quiet,
      dead_groups: quiet,
      repetition: quiet,
      entropy: quiet,
      kl: quiet,
      no_progress: quiet,
    },
    ...NO_TREND,
    startEntropy: null,
    startSteps: 0,
    lastReward: null,
    learnedStreak: 0,
    said: [],
  };
}

/** Processes one step's metrics. `excused`: the newest held-out score meets the goal of the run's stage. */
export function watchStep(before: WatchState, metrics: Metrics, settings: WatchSettings, excused = false): WatchResult {
  const trend = followTrend(before, metrics, settings);
  const reward = metrics.reward ?? trend.lastReward;
  const found = troubles(reward === null ? metrics : { ...metrics, reward }, trend, settings, excused);
  const rules = { ...before.rules };
  const warnings: WatchWarning[] = [];
  for (const rule of RULES) {
    const trouble = found[rule];
    if (trouble === undefined) continue;
    const next = advance(before.rules[rule], trouble, settings.patience);
    rules[rule] = next.state;
    if (trouble === null || !next.speak) continue;
    // Identical completions are why those groups are dead: one warning covers both.
    if (rule === 'repetition' && covered(rules.dead_groups, found)) continue;
    // Why the reward is flat has been said.
    if (rule === 'no_progress' && (rules.dead_groups.warned > 0 || rules.repetition.warned > 0)) continue;
    warnings.push({ rule, message: trouble.message, remedy: trouble.remedy });
  }
  const learned = noticeLearned(before, metrics, found, settings);
  const notices = [
    ...learned.notices,
    ...noticeNothing(before, metrics, settings),
    ...noticeLossZero(before, metrics, settings),
  ];
  const said = [...before.said, ...notices.map(({ topic }) => topic)];
  return { state: { ...trend, rules, learnedStreak: learned.streak, said }, warnings, notices };
}

function advance(
  state: RuleState,
  trouble: Trouble | null,
  patience: number,
): { readonly state: RuleState; readonly speak: boolean } {
  if (trouble === null) {
    const healthy = state.healthy + 1;
    return { state: { streak: 0, healthy, warned: healthy >= patience ? 0 : state.warned }, speak: false };
  }
  const streak = state.streak + 1;
  const speak = streak >= patience && trouble.severity > state.warned;
  return { state: { streak, healthy: 0, warned: speak ? trouble.severity : state.warned }, speak };
}

function covered(dead: RuleState, found: Findings): boolean {
  return dead.warned > 0 && found.dead_groups?.identical === true;
}

function followTrend(before: WatchState, metrics: Metrics, { highestReward }: WatchSettings): WatchState {
  const { entropy, reward } = metrics;
  let { startEntropy, startSteps } = before;
  if (entropy !== undefined && Number.isFinite(entropy) && startSteps < START_STEPS) {
    startEntropy = ((startEntropy ?? 0) * startSteps + entropy) / (startSteps + 1);
    startSteps++;
  }
  if (reward === undefined || !Number.isFinite(reward)) {
    const flatSteps = before.rewardSlow === null ? 0 : before.flatSteps + 1;
    return { ...before, flatSteps, startEntropy, startSteps };
  }
  const trend = followReward(before, reward, Math.abs(highestReward ?? reward));
  return { ...before, ...trend, startEntropy, startSteps, lastReward: reward };
}

function noticeLearned(
  before: WatchState,
  metrics: Metrics,
  found: Findings,
  settings: WatchSettings,
): { readonly streak: number; readonly notices: readonly WatchNotice[] } {
  if (found.learned === undefined) return { streak: before.learnedStreak, notices: [] };
  const streak = found.learned ? before.learnedStreak + 1 : 0;
  if (streak < settings.patience || before.said.includes('learned')) return { streak, notices: [] };
  const reward = (metrics.reward ?? Number.NaN).toFixed(2);
  return {
    streak,
    notices: [
      {
        topic: 'learned',
        message: `The mean reward is ${reward} and nearly all completions of each group get the same top reward: this stage is learned.`,
        remedy:
          'If the held-out score agrees, stop here, and start the next stage, if there is one, from this checkpoint.',
      },
    ],
  };
}

/** Where loss and gradient are both 0, the loss is 0 for another reason than the usual one. */
function noticeNothing(before: WatchState, metrics: Metrics, settings: WatchSettings): readonly WatchNotice[] {
  const { loss, grad_norm: norm } = metrics;
  if (before.said.includes('nothing_learned') || norm === undefined || !(norm <= NO_GRADIENT)) return [];
  if (loss === undefined || !(Math.abs(loss) < SMALL_LOSS)) return [];
  return [
    {
      topic: 'nothing_learned',
      message: `There was nothing to learn from in this step, so loss and gradient are 0: ${whyNothing(metrics, settings)}.`,
      remedy: 'That is fine in single steps. Watch groups/dead and grad_norm.',
    },
  ];
}

function whyNothing(metrics: Metrics, { weightless, equalTeaches, masksTruncated }: WatchSettings): string {
  if (weightless === true) return 'all reward_weights are 0';
  if ((metrics.reward_rounded ?? 0) > 0) return 'rewards differ by less than float32 can tell apart';
  if (metrics['groups/dead'] === 1 && equalTeaches !== true)
    return metrics['groups/solved'] === 1
      ? 'all completions of each group get the same reward, the highest one'
      : 'all completions of each group get the same reward';
  if ((metrics.reward_failures ?? 0) > 0 && metrics['groups/dead'] === undefined)
    return 'rewards failed in every group, so that all are skipped';
  if (metrics['completions/clipped_ratio'] === 1 && masksTruncated === true)
    return 'all completions were cut off, and mask_truncated_completions leaves them out';
  return 'no completion that counts has an advantage';
}

function noticeLossZero(before: WatchState, metrics: Metrics, settings: WatchSettings): readonly WatchNotice[] {
  const { loss, grad_norm: norm } = metrics;
  if (settings.numIterations !== 1 || before.said.includes('loss_zero')) return [];
  if (loss === undefined || !(Math.abs(loss) < SMALL_LOSS)) return [];
  // A server may not say its gradient norm; then nothing is said of a step whose groups are all dead, or unknown.
  const hasGradient = norm === undefined ? (metrics['groups/dead'] ?? 1) < 1 : norm > NO_GRADIENT;
  if (!hasGradient) return [];
  return [
    {
      topic: 'loss_zero',
      message: `A loss of 0 is normal at num_iterations 1: while the policy is the one that sampled, every ratio is 1 and the advantages of a group add up to 0.${norm === undefined ? '' : ' The gradient is not 0.'}`,
      remedy: norm === undefined ? 'Watch the reward instead.' : 'Watch the reward and grad_norm instead.',
    },
  ];
}

/**
 * A plain verdict on a run's signal: what is seen, whether it matters, what to do. Trouble is judged by the rules of
 * the collapse watch, over the mean of the newest steps; what is no trouble is told by the trend. Pure.
 */
import type { StepMetrics } from '../store/metrics.ts';
import { type Findings, type Trouble, troubles, type WatchSettings } from '../trainer/collapse-rules.ts';
import type { Metrics, WarningRule } from '../trainer/events.ts';
import { meanOver, type Trend, trendOf } from './trend.ts';

export interface Verdict {
  readonly tone: 'good' | 'quiet' | 'warn' | 'bad';
  /** One or two words: "learning", "no signal". */
  readonly title: string;
  readonly sentences: readonly string[];
  readonly remedy: string | null;
}

export interface VerdictInput {
  readonly method: string;
  readonly settings: WatchSettings;
  /** The newest steps, in order; some tens are enough. */
  readonly steps: readonly StepMetrics[];
  /** Mean entropy of the run's first steps. */
  readonly startEntropy: number | null;
  /** Held-out scores of the run, by step. */
  readonly evaluations: readonly { readonly step: number; readonly mean: number }[];
}

/** Steps whose mean counts as "now". */
const NOW = 5;
/** Steps that a trend is told of. */
export const TREND_STEPS = 20;
/** From this many steps on there is something to say, and from this many on that nothing changes. */
const ENOUGH = 6;
const ENOUGH_TO_BE_FLAT = 15;
/** Below this share of dead groups there is nothing to mention but that it is fine. */
const MANY_DEAD = 0.5;
/** Held-out score may fall by this much without a word. */
const HELD_OUT_SLACK = 0.02;
/** A sum that spreads by less than this share of its widest part has parts that cancel. */
const CANCELS = 0.25;

/** The verdict on a run as it stands. */
export function verdictOn(input: VerdictInput): Verdict {
  const { method, steps } = input;
  if (steps.length === 0) return say('quiet', 'no steps yet', ['There is nothing to judge before the first step.']);
  if (method === 'sft') return onFitting(steps);
  const now = meanOver(steps.slice(-NOW));
  const found = troubles(now, trendForRules(input), input.settings);
  return (
    onTrouble(found) ??
    onCancelling(now) ??
    onLearned(now, found) ??
    onHeldOut(input) ??
    onTrend(trendOf(steps.slice(-TREND_STEPS), 'reward'), now, input.settings)
  );
}

function trendForRules({ steps, startEntropy }: VerdictInput) {
  const rewardFast = meanOver(steps.slice(-NOW)).reward ?? null;
  const rewardSlow = meanOver(steps).reward ?? null;
  return { startEntropy, rewardFast, rewardSlow };
}

const titles: Readonly<Record<WarningRule, readonly [Verdict['tone'], string]>> = {
  not_finite: ['bad', 'numbers overflowed'],
  kl: ['bad', 'drifting'],
  dead_groups: ['warn', 'no signal'],
  repetition: ['warn', 'exploring too little'],
  entropy: ['warn', 'no longer exploring'],
};

/** The gravest first. */
const gravity = ['not_finite', 'kl', 'dead_groups', 'repetition', 'entropy'] as const;

function onTrouble(found: Findings): Verdict | null {
  for (const rule of gravity) {
    const trouble: Trouble | null | undefined = found[rule];
    if (trouble === null || trouble === undefined) continue;
    const [tone, title] = titles[rule];
    return say(tone, title, [trouble.message], trouble.remedy);
  }
  return null;
}

/** Several rewards that move against each other leave a sum that says nothing. */
function onCancelling(now: Metrics): Verdict | null {
  const parts = Object.entries(now).flatMap(([name, spread]) => {
    const part = /^rewards\/(.+)\/std$/.exec(name)?.[1];
    return part === undefined ? [] : [{ part, spread }];
  });
  const [widest, second] = parts.sort((a, b) => b.spread - a.spread);
  const total = now.reward_std;
  if (widest === undefined || second === undefined || total === undefined || widest.spread < 1e-3) return null;
  if (total >= CANCELS * widest.spread) return null;
  return say(
    'warn',
    'components cancel',
    [
      `The components of the reward cancel each other: ${widest.part} varies by ${short(widest.spread)} and ${second.part} by ${short(second.spread)} between completions, but their sum by ${short(total)} only.`,
    ],
    `Change reward_weights so that ${widest.part} and ${second.part} do not work against each other, or set multi_objective_aggregation to normalize_then_sum.`,
  );
}

function onLearned({ reward }: Metrics, { learned }: Findings): Verdict | null {
  if (learned !== true || reward === undefined) return null;
  const seen = `Mean reward ${short(reward)}, and nearly all completions of each group get the same top reward. That groups are dead is success here.`;
  return say('good', 'learned', [seen], 'Stop here and start the next stage from this checkpoint.');
}

/** Reward that rises while the held-out score falls is not what was wanted. */
function onHeldOut({ evaluations, steps }: VerdictInput): Verdict | null {
  const scores = evaluations.filter(({ mean }) => Number.isFinite(mean));
  const last = scores.at(-1);
  if (last === undefined || scores.length < 3) return null;
  const best = scores.reduce((a, b) => (b.mean > a.mean ? b : a));
  const rising = trendOf(steps.slice(-TREND_STEPS), 'reward')?.direction === 'up';
  if (!rising || best.mean - last.mean <= HELD_OUT_SLACK) return null;
  return say(
    'warn',
    'overfitting',
    [
      `The training reward rises, but the held-out score has fallen from ${short(best.mean)} at step ${best.step} to ${short(last.mean)} at step ${last.step}: the model learns the training prompts, or finds a way round the reward.`,
    ],
    `Read the completions; roll back to the checkpoint nearest to step ${best.step}, with more training records or a lower learning rate.`,
  );
}

function onTrend(trend: Trend | null, now: Metrics, settings: WatchSettings): Verdict {
  const remarks = [deadGroups(now, settings), cutOff(now), lossIsZero(now, settings)].filter((text) => text !== null);
  const reward = now.reward ?? Number.NaN;
  const isEarly = trend === null || trend.steps < (trend.direction === 'flat' ? ENOUGH_TO_BE_FLAT : ENOUGH);
  if (isEarly) {
    return say('quiet', 'too early to say', [`Reward ${short(reward)} so far.`, ...remarks]);
  }
  const change = `reward ${withSign(trend.change)} in the last ${trend.steps} steps, now ${short(reward)}.`;
  if (trend.direction === 'up') return say('good', 'learning', [change, ...remarks]);
  if (trend.direction === 'down') {
    return say(
      'warn',
      'getting worse',
      [change, ...remarks],
      'Watch it for some more steps; if it goes on, roll back to an earlier checkpoint with a lower learning rate.',
    );
  }
  return flat(trend, reward, now, remarks, settings);
}

function flat(
  { steps }: Trend,
  reward: number,
  now: Metrics,
  remarks: readonly string[],
  { highestReward, learningRate }: WatchSettings,
): Verdict {
  const seen = `reward ${short(reward)}, no change in the last ${steps} steps.`;
  if (highestReward !== null && reward >= 0.9 * highestReward) {
    return say('good', 'near the top', [seen, ...remarks]);
  }
  const spread = now.reward_std ?? 0;
  return say(
    'quiet',
    'flat',
    [seen, `Completions do differ (spread ${short(spread)}), so there is something to learn from.`, ...remarks],
    `Give it time; if it stays, try a higher learning rate (now ${learningRate}) or more completions a group.`,
  );
}

function deadGroups(now: Metrics, { groupsPerGeneration: groups }: WatchSettings): string | null {
  const dead = now['groups/dead'] ?? now.frac_reward_zero_std;
  if (dead === undefined) return null;
  const count = Math.round(dead * groups);
  if (count === 0) return 'No group is dead.';
  const solved = Math.min(count, Math.round((now['groups/solved'] ?? 0) * groups));
  const told = `${count} of ${groups} groups ${count === 1 ? 'is' : 'are'} dead`;
  if (solved === count) return `${told} because ${count === 1 ? 'it is' : 'they are'} solved, which is fine.`;
  const part = solved === 0 ? told : `${told}, ${solved} of them solved`;
  if (count - solved < MANY_DEAD * groups) return `${part}, which is fine.`;
  return `${part}: that part of the work teaches nothing. A higher temperature would help.`;
}

function cutOff(now: Metrics): string | null {
  const share = now['completions/clipped_ratio'] ?? 0;
  if (share < 0.25) return null;
  return `${Math.round(share * 100)} % of the completions are cut off at max_completion_length.`;
}

/** The most repeated confusion about GRPO. */
function lossIsZero({ loss, grad_norm: gradient }: Metrics, { numIterations }: WatchSettings): string | null {
  if (numIterations !== 1 || loss === undefined || Math.abs(loss) > 5e-3) return null;
  if (gradient === 0) return null;
  return 'Loss 0 is normal here: the gradient is not 0.';
}

function onFitting(steps: readonly StepMetrics[]): Verdict {
  const now = meanOver(steps.slice(-NOW));
  const trend = trendOf(steps.slice(-TREND_STEPS), 'loss');
  const loss = short(now.loss ?? Number.NaN);
  if (steps.slice(-NOW).some(({ metrics }) => !Number.isFinite(metrics.loss ?? 0)))
    return say(
      'bad',
      'numbers overflowed',
      ['The loss is not a finite number.'],
      'Lower the learning rate to a third.',
    );
  if (trend === null || trend.steps < ENOUGH) return say('quiet', 'too early to say', [`Loss ${loss} so far.`]);
  const change = `loss ${withSign(trend.change)} in the last ${trend.steps} steps, now ${loss}.`;
  if (trend.direction === 'down') return say('good', 'learning', [change]);
  if (trend.direction === 'flat') return say('quiet', 'flat', [change]);
  return say('warn', 'getting worse', [change], 'Lower the learning rate.');
}

function say(
  tone: Verdict['tone'],
  title: string,
  sentences: readonly string[],
  remedy: string | null = null,
): Verdict {
  return { tone, title, sentences, remedy };
}

function short(value: number): string {
  return Number.isNaN(value) ? 'unknown' : String(Number(value.toPrecision(2)));
}

function withSign(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
}

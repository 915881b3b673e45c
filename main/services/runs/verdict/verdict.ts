/**
 * A plain verdict on a run's training signal: what is observed, whether it matters, what to do. Problems are judged by
 * the rules of the collapse watch over the mean of the newest steps; otherwise the trend decides. Pure.
 */

import type { MetricPoint, StepMetrics } from '../../../store/metrics.ts';
import { signed } from '../../../text/format.ts';
import { isReinforcement, type TrainConfig, WARM_UP_LOSS, WARM_UP_STEPS } from '../../../trainer/config/config.ts';
import {
  DAMAGE,
  type Findings,
  followReward,
  hasSignal,
  isFarFromTop,
  isNearZero,
  NO_GRADIENT,
  NO_TREND,
  type Trouble,
  topFrom,
  troubles,
  type WatchSettings,
} from '../../../trainer/monitor/collapse-rules.ts';
import type { Metrics, WarningRule } from '../../../trainer/protocol/trainer-events.ts';
import { type HeldOutInput, type HeldOutStanding, heldOutStanding, meetsGoal } from '../held-out.ts';
import { bestScore } from '../promotion.ts';
import { meanOver, newestWith, type Trend, trendOf } from './trend.ts';

export interface Verdict {
  readonly tone: 'good' | 'quiet' | 'warn' | 'bad';
  /** One or two words: "learning", "no signal". */
  readonly title: string;
  readonly sentences: readonly string[];
  readonly remedy: string | null;
}

export interface VerdictInput extends HeldOutInput {
  readonly method: TrainConfig['method'];
  readonly settings: WatchSettings;
  /** By component, the weight in force; null: unknown. */
  readonly weights: Readonly<Record<string, number>> | null;
  readonly aggregation: TrainConfig['multi_objective_aggregation'];
  /** The newest steps, in order; some tens are enough. */
  readonly steps: readonly StepMetrics[];
  /** The rewards of all steps so far that have one, in order. Asked only where they can matter: a long run has a hundred thousand. */
  readonly rewards: () => readonly MetricPoint[];
  /** Mean entropy of the run's first steps. */
  readonly startEntropy: number | null;
}

/** Steps whose mean counts as "now". */
const NOW = 5;
/** Steps of a trend. */
const TREND_STEPS = 20;
/** Minimum steps for a verdict, and for the verdict that nothing changes. */
const ENOUGH = 6;
const ENOUGH_TO_BE_FLAT = 15;
/** A share of dead groups below this is fine. */
const MANY_DEAD = 0.5;
/** The held-out score may fall by this much from its best without a warning. */
const HELD_OUT_SLACK = 0.02;
/** Completions of a group are called alike up to this share of different ones. */
const ALIKE = 0.25;
/** Components cancel if their sum varies by less than this share of the widest one. */
const CANCELS = 0.25;

/** The verdict on a run's current state. */
export function verdictOn(input: VerdictInput): Verdict {
  if (input.steps.length === 0)
    return say('quiet', 'no steps yet', ['There is nothing to judge before the first step.']);
  const held = heldOutStanding(input);
  if (!isReinforcement(input.method)) return onSupervised(input, held);
  const steps = input.steps.filter(({ metrics }) => metrics[WARM_UP_LOSS] === undefined);
  return steps.length === 0 ? onWarmUp(input) : onGrpo({ ...input, steps }, held);
}

function onSupervised(input: VerdictInput, held: HeldOutStanding | null): Verdict {
  const fitting = onFitting(input);
  if (fitting.tone === 'bad') return fitting;
  const now = `Loss ${short(meanOver(input.steps.slice(-NOW)).loss ?? Number.NaN)}.`;
  return onWorse(held, input.ended) ?? onGoal(held, input.ended, [now]) ?? fitting;
}

function onGrpo(input: VerdictInput, held: HeldOutStanding | null): Verdict {
  const { steps, settings, ended } = input;
  const now = meanOver(newestWith(steps, 'reward', NOW));
  const found = troubles(now, trendForRules(now, input), settings);
  const trend = rewardTrend(steps);
  // What the held-out score shows to be learned needs no more exploring: only damage still counts.
  // Nor do the first steps say more than that.
  const excused = meetsGoal(input);
  const enough = Math.max(NOW, settings.patience);
  const open = !excused && steps.length >= enough ? severity : severity.filter((rule) => DAMAGE.includes(rule));
  // A reward that falls hasn't "stayed near" anything: it is getting worse.
  const rules = trend?.direction === 'down' ? open.filter((rule) => rule !== 'no_progress') : open;
  return (
    onTrouble(found, rules) ??
    (excused ? null : onCancelling(now, input)) ??
    onOverfitting(input, held) ??
    onWorse(held, ended) ??
    onLearned(now, found, ended) ??
    (trend?.direction === 'down' ? null : onGoal(held, ended, afterGoal(now, settings))) ??
    onTrend(trend, now, input)
  );
}

function rewardTrend(steps: VerdictInput['steps']): Trend | null {
  return trendOf(newestWith(steps, 'reward', TREND_STEPS), 'reward');
}

function trendForRules(now: Metrics, { steps, rewards, startEntropy, settings: { highestReward } }: VerdictInput) {
  const rewardFast = now.reward ?? null;
  const rewardSlow = meanOver(steps).reward ?? null;
  const canBeFlat = rewardFast !== null && highestReward !== null && isFarFromTop(rewardFast, highestReward);
  const flatSteps = canBeFlat ? (steps.at(-1)?.step ?? 0) - lastRise(rewards(), highestReward) : 0;
  return { startEntropy, rewardFast, rewardSlow, flatSteps };
}

/** The step at which the reward last rose, as the collapse watch counts. */
function lastRise(rewards: readonly MetricPoint[], highestReward: number): number {
  let [trend, rose] = [NO_TREND, 0];
  for (const { step, value } of rewards) {
    trend = followReward(trend, value, Math.abs(highestReward));
    if (trend.flatSteps === 0) rose = step;
  }
  return rose;
}

const titles: Readonly<Record<WarningRule, readonly [Verdict['tone'], string]>> = {
  not_finite: ['bad', 'numbers overflowed'],
  kl: ['bad', 'drifting'],
  dead_groups: ['warn', 'no signal'],
  repetition: ['warn', 'exploring too little'],
  entropy: ['warn', 'no longer exploring'],
  no_progress: ['warn', 'no progress'],
};

/** The most serious first. */
const severity = ['not_finite', 'kl', 'dead_groups', 'repetition', 'entropy', 'no_progress'] as const;

function onTrouble(found: Findings, rules: readonly WarningRule[]): Verdict | null {
  for (const rule of rules) {
    const trouble: Trouble | null | undefined = found[rule];
    if (trouble === null || trouble === undefined) continue;
    const [tone, title] = titles[rule];
    return say(tone, title, [trouble.message], trouble.remedy);
  }
  return null;
}

/**
 * Rewards that move against each other give a sum without a signal. A component counts as its weight lets it: one that is
 * wide by itself and light in the sum has not been cancelled. Where each is normalised before the sum, spreads say nothing.
 */
function onCancelling(now: Metrics, { method, weights, aggregation }: VerdictInput): Verdict | null {
  const total = now.reward_std;
  if (weights === null || aggregation === 'normalize_then_sum' || total === undefined) return null;
  const parts = Object.entries(weights)
    .map(([part, weight]) => ({ part, spread: Math.abs(weight) * (now[`rewards/${part}/std`] ?? 0) }))
    .sort((a, b) => b.spread - a.spread);
  const [widest, second] = parts;
  if (widest === undefined || second === undefined || widest.spread < 1e-3) return null;
  if (total >= CANCELS * widest.spread) return null;
  // The others must be able to: of a component that few completions have, the sum varies less than it does.
  const others = parts.slice(1).reduce((sum, { spread }) => sum + spread, 0);
  if (others < (1 - CANCELS) * widest.spread) return null;
  const weighted = Object.values(weights).some((weight) => Math.abs(weight) !== 1) ? ' (times their weights)' : '';
  return say(
    'warn',
    'components cancel',
    [
      `The components of the reward cancel each other out: ${widest.part} varies by ${short(widest.spread)} and ${second.part} by ${short(second.spread)} between completions${weighted}, but their sum only by ${short(total)}.`,
    ],
    `Change reward_weights so that ${widest.part} and ${second.part} don't work against each other${method === 'grpo' ? ', or set multi_objective_aggregation to normalize_then_sum' : ''}.`,
  );
}

function onLearned({ reward }: Metrics, { learned }: Findings, ended: boolean): Verdict | null {
  if (learned !== true || reward === undefined) return null;
  const seen = `Training reward ${short(reward)}, and nearly all completions of each group get the same top reward. Here, dead groups are a sign of success.`;
  const next = ended ? 'Start' : 'Stop here and start';
  return say('good', 'learned', [seen], `${next} the next stage, if there is one, from this checkpoint.`);
}

/** The held-out score meets the goal of the stage: the evidence that counts most. */
function onGoal(held: HeldOutStanding | null, ended: boolean, more: readonly string[]): Verdict | null {
  if (held === null || held.goal === null || held.goal.met === 0) return null;
  const whatNext = ended
    ? ['Start the next stage from its checkpoint.', 'Resume it with more steps to meet the goal again.']
    : ['Stop here, or let it finish, and start the next stage from its checkpoint.', 'Let it continue.'];
  const title = held.isMet ? 'goal reached' : 'close to the goal';
  return say('good', title, [`${held.sentence}.`, ...more], whatNext[held.isMet ? 0 : 1] ?? null);
}

function afterGoal(now: Metrics, { numGenerations }: WatchSettings): readonly string[] {
  const seen = `Training reward ${short(now.reward ?? Number.NaN)}.`;
  const alike = (now['completions/unique_ratio'] ?? 1) <= Math.max(ALIKE, 1 / numGenerations);
  return alike ? [seen, 'The completions of a group are nearly alike, as they should be by now.'] : [seen];
}

/** The model that the run started from scores higher than what it has become, whatever else is met. */
function onWorse(held: HeldOutStanding | null, ended: boolean): Verdict | null {
  if (held === null || held.tone !== 'warn') return null;
  const { best, baseline, below } = held;
  const isBetterBefore = best !== null && baseline !== null && best.mean > baseline;
  const remedy = isBetterBefore
    ? `The checkpoint nearest to step ${best.step} scored ${score(best.mean)}: roll back to it, and use a lower learning rate.`
    : 'The model that the run started from scores higher: start the next stage, if there is one, from that, or train with a lower learning rate.';
  const wait =
    ended || below === 'clearly' ? '' : ' A difference this small may be chance: the next evaluation shows it.';
  return say(
    'warn',
    below === 'clearly' ? 'worse than its start' : 'no better than its start',
    [`${held.sentence}.`],
    `${remedy}${wait}`,
  );
}

/** Detects a rising reward with a falling held-out score. */
function onOverfitting({ evaluations, steps }: VerdictInput, held: HeldOutStanding | null): Verdict | null {
  const scores = evaluations.filter(({ mean }) => Number.isFinite(mean));
  const [last, best] = [scores.at(-1), bestScore(scores)];
  if (held === null || last === undefined || best === null || scores.length < 3) return null;
  const rising = rewardTrend(steps)?.direction === 'up';
  if (!rising || best.mean - last.mean <= HELD_OUT_SLACK) return null;
  return say(
    'warn',
    'overfitting',
    [
      `${held.sentence}.`,
      `The training reward is rising, but the held-out score has fallen from ${score(best.mean)} ${best.step === 0 ? 'before the run' : `at step ${best.step}`}: the model may be overfitting the training prompts or gaming the reward.`,
    ],
    `Read the completions. ${best.step === 0 ? 'The model was best before the run' : `Roll back to the checkpoint nearest to step ${best.step}`}: use more training records or a lower learning rate.`,
  );
}

function onTrend(trend: Trend | null, now: Metrics, input: VerdictInput): Verdict {
  const { steps, settings, ended } = input;
  const flaws = [deadGroups(now, settings), cutOff(now)].filter((remark) => remark !== null);
  const newest = lossIsZero(steps.at(-1)?.metrics ?? {}, settings);
  const remarks = [...flaws.map(({ seen }) => seen), ...(newest === null ? [] : [newest])];
  const remedy = flaws.flatMap((flaw) => flaw.remedy ?? []).join(' ') || null;
  const reward = now.reward ?? Number.NaN;
  const isEarly = trend === null || trend.steps < (trend.direction === 'flat' ? ENOUGH_TO_BE_FLAT : ENOUGH);
  if (isEarly) {
    const title = ended ? 'too short to say' : 'too early to say';
    // What a few steps show may be gone after the next ones: advice comes with a verdict.
    const early = ended ? remedy : null;
    return say('quiet', title, [`Training reward ${short(reward)}${ended ? '' : ' so far'}.`, ...remarks], early);
  }
  const change = `Training reward ${signed(trend.change, 2)} in the last ${trend.over} steps, now ${short(reward)} (mean of ${NOW}).`;
  if (trend.direction === 'up') return say('good', 'learning', [change, ...remarks], remedy);
  if (trend.direction === 'down') {
    return say(
      'warn',
      'getting worse',
      [change, ...remarks],
      ended
        ? `Use ${input.evaluations.some(({ step }) => step > 0) ? 'the checkpoint with the best held-out score' : 'an earlier checkpoint'}, and a lower learning rate in the next run.`
        : 'Wait some more steps. If it continues, roll back to an earlier checkpoint and lower the learning rate.',
    );
  }
  return flat(trend, reward, now, { remarks, remedy }, { ...settings, ended });
}

function flat(
  { over }: Trend,
  reward: number,
  now: Metrics,
  { remarks, remedy }: { readonly remarks: readonly string[]; readonly remedy: string | null },
  { highestReward, temperature, equalTeaches, canWarmUp, ended }: WatchSettings & Pick<VerdictInput, 'ended'>,
): Verdict {
  const seen = `training reward ${short(reward)} (mean of ${NOW} steps), no change in the last ${over} steps.`;
  if (highestReward !== null && reward >= topFrom(0.9, highestReward)) {
    return say('good', 'near the top', [seen, ...remarks], remedy);
  }
  const warmer = `raise the temperature (now ${temperature}) or num_generations, so that completions differ more.`;
  const next =
    canWarmUp === true && isNearZero(reward, highestReward)
      ? `warm the model up on the targets first (warm_up_steps ${WARM_UP_STEPS}): near a reward of 0 there is hardly anything to reinforce.`
      : warmer;
  return say(
    'quiet',
    'flat',
    [seen, ...(equalTeaches === true ? [] : signalWithin(now['groups/spread'], highestReward)), ...remarks],
    ended ? `For the next run, ${next}` : `Give it time. If it stays flat, ${next}`,
  );
}

/** What rewards within groups say about the signal; nothing of runs from before it was logged. */
function signalWithin(spread: number | undefined, highestReward: number | null): readonly string[] {
  if (spread === undefined) return [];
  if (spread === 0) return ["Rewards within a group don't differ, so there is no training signal."];
  const seen = `(standard deviation ${short(spread)}, mean over groups)`;
  if (!highestReward) return [`Rewards within a group differ ${seen}.`];
  return hasSignal(spread, highestReward)
    ? [`Rewards within a group do differ ${seen}, so there is a training signal.`]
    : [`Rewards within a group hardly differ ${seen}, so the training signal is weak.`];
}

/** What stands out about the newest steps, and what would help; null: nothing needs to be done. */
interface Remark {
  readonly seen: string;
  readonly remedy: string | null;
}

function deadGroups(now: Metrics, { groupsPerGeneration: groups, equalTeaches }: WatchSettings): Remark | null {
  const dead = now['groups/dead'] ?? now.frac_reward_zero_std;
  if (dead === undefined || equalTeaches === true) return null;
  const fine = (seen: string): Remark => ({ seen, remedy: null });
  const count = Math.round(dead * groups);
  // TRL's share is that of the whole batch, unless rewards are scaled by group.
  if (count === 0 && now['groups/dead'] === undefined) return null;
  if (count === 0) return fine(dead === 0 ? 'No group is dead.' : 'Hardly any group is dead.');
  const solved = Math.min(count, Math.round((now['groups/solved'] ?? 0) * groups));
  const summary = `${count} of ${groups} groups ${count === 1 ? 'is' : 'are'} dead`;
  if (solved === count) return fine(`${summary} because ${count === 1 ? 'it is' : 'they are'} solved, which is fine.`);
  const part = solved === 0 ? summary : `${summary}, ${solved} of them solved`;
  if (count - solved < MANY_DEAD * groups) return fine(`${part}, which is fine.`);
  const seen = `${part}: those groups give no training signal.`;
  return { seen, remedy: 'A higher temperature would help: completions would differ more.' };
}

function cutOff(now: Metrics): Remark | null {
  const share = now['completions/clipped_ratio'] ?? 0;
  if (share < 0.25) return null;
  return {
    seen: `${Math.round(share * 100)}% of the completions are cut off at max_completion_length.`,
    remedy: 'Raise max_completion_length unless they are meant to be that short.',
  };
}

/** The most common confusion about GRPO. Loss and gradient of the newest step, as beside the charts. */
function lossIsZero({ loss, grad_norm: gradient }: Metrics, { numIterations }: WatchSettings): string | null {
  if (numIterations !== 1 || loss === undefined || Math.abs(loss) > 5e-3) return null;
  // Of a server that says no norm, and of a step whose groups are all dead, this isn't known or isn't so.
  if (gradient === undefined || !(gradient > NO_GRADIENT)) return null;
  return `A loss near 0 (now ${short(loss)}) is normal here; the gradient is not 0.`;
}

/** Before the first reward. */
function onWarmUp(input: VerdictInput): Verdict {
  const { tone, title, sentences, remedy } = onFitting(input, WARM_UP_LOSS);
  if (tone === 'bad') return say(tone, title, sentences, remedy?.replace('the learning rate', 'warm_up_learning_rate'));
  return say('quiet', 'warming up', [...sentences, 'Rewards are measured once GRPO begins.']);
}

function onFitting({ steps, ended }: VerdictInput, name = 'loss'): Verdict {
  const now = meanOver(steps.slice(-NOW));
  const trend = trendOf(steps.slice(-TREND_STEPS), name);
  const loss = short(now[name] ?? Number.NaN);
  if (steps.slice(-NOW).some(({ metrics }) => !Number.isFinite(metrics[name] ?? 0)))
    return say(
      'bad',
      'numbers overflowed',
      ['The loss is not a finite number.'],
      'Lower the learning rate to a third.',
    );
  if (trend === null || trend.steps < ENOUGH)
    return say('quiet', ended ? 'too short to say' : 'too early to say', [
      ended ? `Loss ${loss}.` : `Loss ${loss} so far.`,
    ]);
  const change = `Loss ${signed(trend.change, 2)} in the last ${trend.steps} steps, now ${loss}.`;
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

/** As everywhere on the page: rounded to two digits, 0.995 would read as 1. */
function score(value: number): string {
  return value.toFixed(3);
}

function short(value: number): string {
  return Number.isNaN(value) ? 'unknown' : String(Number(value.toPrecision(2)));
}

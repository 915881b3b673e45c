/**
 * Advice on a run from its metrics: the observation, what to change, and the change itself for the next run. The
 * thresholds for KL are the collapse watch's; rewards are judged over the whole run, speed over its recent steps.
 */
import { signed } from '../../../text/format.ts';
import { meanOf } from '../../../text/intervals.ts';
import { isReinforcement, type TrainConfig, WARM_UP_STEPS } from '../../../trainer/config/config.ts';
import { isNearZero } from '../../../trainer/monitor/collapse-rules.ts';

export type AdviceRule = 'kl_high' | 'kl_exploding' | 'near_zero' | 'reward_flat' | 'too_slow';

export interface Advice {
  readonly rule: AdviceRule;
  readonly severity: 'info' | 'warning';
  readonly message: string;
  readonly remedy: string;
  /** Fields of the next run; empty if there is nothing to change automatically. */
  readonly change: Partial<TrainConfig>;
}

export interface AdviceOptions {
  /** The title of the verdict on the run: advice to explore more follows only from some. */
  readonly verdict?: string;
  /** The maximum reward of a run whose records have targets that it hasn't been warmed up on; null: it isn't known. */
  readonly warmable?: { readonly highestReward: number | null };
}

/** Input of the rules. */
export interface RunFigures {
  /** Number of steps with a reward. */
  readonly rewards: number;
  /** Of the first and the last `WINDOW` steps. */
  readonly firstRewards: readonly number[];
  readonly lastRewards: readonly number[];
  /** Mean of `reward_std`; NaN without any. */
  readonly spread: number;
  /** NaN if no KL was measured. */
  readonly highestKl: number;
  /** Of recent steps, in seconds. */
  readonly stepTimes: readonly number[];
}

const KL_HIGH = 10;
const KL_EXPLODING = 15;
/** Steps before the reward can be called flat. */
const FLAT_STEPS = 30;
/** Steps before it can be called stuck near 0: what the verdict needs to call it flat. */
const NEAR_ZERO_STEPS = 15;
/** Steps at the start and at the end whose rewards are compared. */
export const WINDOW = 10;
/** An increase below this share of the reward's spread in a group counts as none. */
const FLAT_SHARE = 0.1;
const SLOW_SECONDS = 60;
const BETA_FROM_NOTHING = 0.04;
/** Beside any other verdict (good, getting worse, drifting …), advice to explore more would contradict its remedy. */
const FLAT_VERDICTS: readonly string[] = ['flat', 'no progress'];

/** All advice for a run so far. `verdict` is its title: advice to explore more follows only from some. */
export function adviceFor(config: TrainConfig, figures: RunFigures, options: AdviceOptions = {}): readonly Advice[] {
  if (!isReinforcement(config.method)) return [];
  const isFlat = options.verdict === undefined || FLAT_VERDICTS.includes(options.verdict);
  const isStuck = isFlat || options.verdict === 'no signal';
  const stuck = isStuck ? nearZero(figures, options) : null;
  return [
    ...highKl(config, figures),
    ...(stuck ?? (isFlat ? flatReward(config, figures) : [])),
    ...tooSlow(config, figures),
  ];
}

function highKl(config: TrainConfig, { highestKl: kl }: RunFigures): Advice[] {
  if (!(kl > KL_HIGH)) return [];
  const beta = config.beta === 0 ? BETA_FROM_NOTHING : 2 * config.beta;
  const exploding = kl > KL_EXPLODING;
  return [
    {
      rule: exploding ? 'kl_exploding' : 'kl_high',
      severity: 'warning',
      message: `The KL divergence reached ${kl.toFixed(1)} nats per token (above ${exploding ? `${KL_EXPLODING}: exploding` : KL_HIGH}).`,
      remedy: `Raise the KL coefficient beta from ${config.beta} to ${beta}${exploding ? ' and halve the learning rate' : ''}.`,
      change: exploding ? { beta, learning_rate: config.learning_rate / 2 } : { beta },
    },
  ];
}

/** Where a run stayed near 0, more exploring finds little: what is right has to be shown first. */
function nearZero({ rewards, lastRewards }: RunFigures, { warmable }: AdviceOptions): Advice[] | null {
  if (warmable === undefined || rewards < NEAR_ZERO_STEPS) return null;
  const last = meanOf(lastRewards);
  if (!isNearZero(last, warmable.highestReward)) return null;
  return [
    {
      rule: 'near_zero',
      severity: 'warning',
      message: `The reward is still ${last.toFixed(3)} after ${rewards} steps.`,
      remedy: `Warm the model up on the targets first, by ${WARM_UP_STEPS} supervised steps (warm_up_steps).`,
      change: { warm_up_steps: WARM_UP_STEPS },
    },
  ];
}

function flatReward(config: TrainConfig, { rewards, firstRewards, lastRewards, spread }: RunFigures): Advice[] {
  if (rewards < FLAT_STEPS) return [];
  const rise = meanOf(lastRewards) - meanOf(firstRewards);
  // Imported runs may have none.
  if (rise > FLAT_SHARE * (Number.isNaN(spread) ? 0 : spread)) return [];
  const temperature = Math.round((config.temperature + 0.1) * 100) / 100;
  // Of the steps that have a reward: those that share a generation have none.
  return [
    {
      rule: 'reward_flat',
      severity: 'warning',
      message: `The reward has not improved in ${rewards} steps (${signed(rise, 4)})${spread === 0 ? ': in each of them all rewards are equal' : ''}.`,
      remedy: `Raise the temperature from ${config.temperature} to ${temperature} so that completions differ more.`,
      change: { temperature },
    },
  ];
}

function tooSlow(config: TrainConfig, { stepTimes }: RunFigures): Advice[] {
  const times = stepTimes.toSorted((a, b) => a - b);
  const median = times[times.length >> 1];
  if (median === undefined || median <= SLOW_SECONDS) return [];
  const generations = Math.max(config.pods_update_size ?? 2, Math.floor((config.num_generations * 3) / 4));
  if (generations === config.num_generations) return [];
  return [
    {
      rule: 'too_slow',
      severity: 'info',
      message: `A step takes ${median.toFixed(0)} s (median).`,
      remedy: `Use ${generations} generations per prompt instead of ${config.num_generations}.`,
      change: { num_generations: generations, ...batchFor(generations, config) },
    },
  ];
}

/** The batch stays a multiple of the group; with PODS it counts what is trained on, which doesn't change. */
function batchFor(generations: number, config: TrainConfig): Partial<TrainConfig> {
  if (config.pods_update_size !== null) return {};
  const perStep = (config.per_device_train_batch_size / config.num_generations) * generations;
  return { per_device_train_batch_size: Number.isInteger(perStep) ? perStep : generations };
}

/**
 * Advice on a run from its metrics: what is seen, what to change, and the change itself, ready for the next run. The
 * thresholds for KL are the collapse watch's; rewards and speed are judged over the whole run.
 */
import type { TrainConfig } from '../../trainer/config.ts';
import { isReinforcement } from '../../trainer/config.ts';
import type { Metrics } from '../../trainer/events.ts';

export type AdviceRule = 'kl_high' | 'kl_exploding' | 'reward_flat' | 'too_slow' | 'component_missing';

export interface Advice {
  readonly rule: AdviceRule;
  readonly severity: 'info' | 'warning';
  readonly message: string;
  readonly remedy: string;
  /** Fields of the next run; empty where there is nothing to change by a click. */
  readonly change: Partial<TrainConfig>;
}

export interface AdviceOptions {
  /** What a step may take before it is called slow, in seconds. */
  readonly patienceSeconds?: number;
}

const KL_HIGH = 10;
const KL_EXPLODING = 15;
/** Steps before the reward can be called flat, and the windows that are compared. */
const FLAT_STEPS = 30;
const WINDOW = 10;
/** A rise below this share of the reward's spread over a generation is none. */
const FLAT_SHARE = 0.1;
const SLOW_SECONDS = 60;
const BETA_FROM_NOTHING = 0.04;

/** Everything there is to say about a run so far; metrics by step, oldest first. */
export function adviceFor(
  config: TrainConfig,
  history: readonly Metrics[],
  options: AdviceOptions = {},
): readonly Advice[] {
  if (!isReinforcement(config.method)) return tooSlow(config, history, options);
  return [
    ...highKl(config, history),
    ...flatReward(config, history),
    ...missingComponents(history),
    ...tooSlow(config, history, options),
  ];
}

function highKl(config: TrainConfig, history: readonly Metrics[]): Advice[] {
  const kl = Math.max(...history.map((step) => step.kl ?? Number.NEGATIVE_INFINITY));
  if (!(kl > KL_HIGH)) return [];
  const beta = config.beta === 0 ? BETA_FROM_NOTHING : 2 * config.beta;
  const exploding = kl > KL_EXPLODING;
  return [
    {
      rule: exploding ? 'kl_exploding' : 'kl_high',
      severity: 'warning',
      message: `The KL divergence reached ${kl.toFixed(1)} nats a token (above ${exploding ? `${KL_EXPLODING}: exploding` : KL_HIGH}).`,
      remedy: `Raise the KL coefficient beta from ${config.beta} to ${beta}${exploding ? ' and halve the learning rate' : ''}.`,
      change: exploding ? { beta, learning_rate: config.learning_rate / 2 } : { beta },
    },
  ];
}

function flatReward(config: TrainConfig, history: readonly Metrics[]): Advice[] {
  const rewards = history.flatMap(({ reward }) => (reward === undefined || Number.isNaN(reward) ? [] : [reward]));
  if (rewards.length < FLAT_STEPS) return [];
  const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
  const spread = mean(history.flatMap(({ reward_std: std }) => (std === undefined || Number.isNaN(std) ? [] : [std])));
  const rise = mean(rewards.slice(-WINDOW)) - mean(rewards.slice(0, WINDOW));
  if (rise > FLAT_SHARE * spread) return [];
  const temperature = Math.round((config.temperature + 0.1) * 100) / 100;
  const equal = spread === 0 || Number.isNaN(spread);
  return [
    {
      rule: 'reward_flat',
      severity: 'warning',
      message: `The reward has not risen in ${rewards.length} steps (${rise < 0 ? '' : '+'}${rise.toFixed(4)})${equal ? ': all rewards are equal' : ''}.`,
      remedy: `Raise the temperature from ${config.temperature} to ${temperature}, so that completions differ more.`,
      change: { temperature },
    },
  ];
}

/** A component that never gave a number was left out of every reward. */
function missingComponents(history: readonly Metrics[]): Advice[] {
  const names = new Set(
    history.flatMap((step) => Object.keys(step)).filter((name) => /^rewards\/.+\/mean$/.test(name)),
  );
  const missing = [...names].filter((name) => history.every((step) => !Number.isFinite(step[name] ?? Number.NaN)));
  return missing.map((name) => ({
    rule: 'component_missing',
    severity: 'warning',
    message: `The reward component ${name.split('/')[1]} gave no number in any step; it was left out of the reward.`,
    remedy: 'Look at the samples: a component is not a number where it does not apply.',
    change: {},
  }));
}

function tooSlow(
  config: TrainConfig,
  history: readonly Metrics[],
  { patienceSeconds = SLOW_SECONDS }: AdviceOptions,
): Advice[] {
  const times = history.flatMap(({ step_time: time }) => (time === undefined ? [] : [time])).sort((a, b) => a - b);
  const median = times[times.length >> 1];
  if (median === undefined || median <= patienceSeconds || !isReinforcement(config.method)) return [];
  const generations = Math.max(2, Math.floor((config.num_generations * 3) / 4));
  if (generations === config.num_generations) return [];
  // The batch stays a multiple of the group.
  const perStep = (config.per_device_train_batch_size / config.num_generations) * generations;
  const size = Number.isInteger(perStep) ? perStep : generations;
  return [
    {
      rule: 'too_slow',
      severity: 'info',
      message: `A step takes ${median.toFixed(0)} s (median).`,
      remedy: `Take ${generations} generations a prompt instead of ${config.num_generations}.`,
      change: { num_generations: generations, per_device_train_batch_size: size },
    },
  ];
}

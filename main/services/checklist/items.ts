/** The points of checklists, one function each: done, open or failed, why, and what to do. */
import { existsSync } from 'node:fs';
import { freemem, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { BraidError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { taskByName } from '../../tasks/index.ts';
import { isReinforcement, type TrainConfig } from '../../trainer/config.ts';
import { expectedMemory } from '../demand.ts';
import { knownDiskSpace } from '../disk-space.ts';
import { formatBytes } from '../doctor/check.ts';
import { resolveStart } from '../from-checkpoint.ts';
import { resolveModel } from '../models.ts';
import type { HostPaths } from '../paths.ts';
import { newestTrial } from '../trial.ts';
import type { FileFacts } from './record-facts.ts';

export interface ChecklistItem<N extends string = string> {
  readonly name: N;
  readonly state: 'done' | 'open' | 'failed';
  readonly detail: string;
  /** What to do about it; null where nothing is. */
  readonly next: string | null;
}

/** Bytes that checkpoints, samples and history should find free. */
const FREE_BYTES = 2 * 2 ** 30;

/** Whether the model is there. */
export function modelItem(model: string, paths: Pick<HostPaths, 'resources'>): ChecklistItem<'model'> {
  return attempt('model', 'Give a model folder, or the name of a bundled model.', () => resolveModel(model, paths));
}

/** A point that is done where the work comes to its end, and says why where it doesn't. */
export function attempt<N extends string>(name: N, next: string, work: () => string): ChecklistItem<N> {
  try {
    return { name, state: 'done', detail: work(), next: null };
  } catch (error) {
    if (error instanceof BraidError) return { name, state: 'failed', detail: error.message, next };
    throw error;
  }
}

/** Where reinforcement of replies starts. */
export function warmStart(store: Store, config: TrainConfig): ChecklistItem<'warm_start'>[] {
  const { from_checkpoint: start, method, task } = config;
  if (start !== null)
    return [attempt('warm_start', 'Train what it names to its end first.', () => resolveStart(store, start))];
  if (task !== 'reply' || !isReinforcement(method)) return [];
  return [
    {
      ...{ name: 'warm_start', state: 'open', detail: 'none: reinforcement starts from the model as it came' },
      next: 'Fit it to human replies first; reinforcement from there is steadier.',
    },
  ];
}

/** Whether two files share no prompt. */
export function overlapItem<N extends string>(name: N, shared: number, clean: string): ChecklistItem<N> {
  if (shared === 0) return { name, state: 'done', detail: clean, next: null };
  const next = 'Split anew: what was trained on says nothing of what was learned.';
  return { name, state: 'failed', detail: `${shared} prompts stand on both sides`, next };
}

/** Whether a file of records can be read, and how many it holds. */
export function fileItem<N extends string>(
  name: N,
  file: string,
  facts: FileFacts | undefined,
  remedy: string,
): ChecklistItem<N> {
  if (facts?.kind === 'good') return { name, state: 'done', detail: `${facts.records} records in ${file}`, next: null };
  return { name, state: 'failed', detail: facts?.reason ?? `${file}: not looked at`, next: remedy };
}

/** Whether the weights fit the parts of the reward. */
export function rewardItem(config: TrainConfig): ChecklistItem<'reward'> {
  const { rewardNames, rewardWeights } = taskByName(config.task);
  const weights = config.reward_weights ?? rewardWeights ?? rewardNames.map(() => 1);
  const fits = weights.length === rewardNames.length;
  const good = fits && weights.some((weight) => weight > 0);
  return {
    name: 'reward',
    state: good ? 'done' : 'failed',
    detail: fits
      ? rewardNames.map((name, i) => `${name} ${weights[i]}`).join(', ')
      : `expected ${rewardNames.length} weights (${rewardNames.join(', ')}), got ${weights.length}`,
    next: good ? null : 'Give reward_weights one number a part, at least one above 0.',
  };
}

/** What the run is expected to take of the memory. */
export function memoryItem(store: Store, config: TrainConfig, paths: HostPaths): ChecklistItem<'memory'> {
  const name = 'memory';
  const next = 'Take LoRA, a smaller per_device_train_batch_size or activation_memory_mb, or a smaller model.';
  try {
    const start = config.from_checkpoint === null ? config.model : resolveStart(store, config.from_checkpoint);
    const needed = expectedMemory(store, config, start, paths);
    const detail = `about ${formatBytes(needed)} expected, ${formatBytes(freemem())} free`;
    if (needed > totalmem()) return { name, state: 'failed', detail, next };
    if (needed > freemem()) return { name, state: 'open', detail, next: `Close other programs. ${next}` };
    return { name, state: 'done', detail, next: null };
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    return { name, state: 'open', detail: 'not known before the model is there', next: error.message };
  }
}

/** What the workspace's disk has left. */
export function diskItem(folder: string): ChecklistItem<'disk'> {
  const place = existsSync(folder) ? folder : dirname(folder);
  const free = knownDiskSpace(place)?.freeBytes;
  if (free === undefined) return { name: 'disk', state: 'open', detail: "the system doesn't tell", next: null };
  const enough = free >= FREE_BYTES;
  return {
    ...{ name: 'disk', state: enough ? 'done' : 'failed', detail: `${formatBytes(free)} free at ${place}` },
    next: enough ? null : `Free some: checkpoints, samples and history should find ${formatBytes(FREE_BYTES)}.`,
  };
}

/** Whether the newest small-scale test was made with this model, and passed. */
export function trialItem(store: Store, model: string): ChecklistItem<'small_scale_test'> {
  const name = 'small_scale_test';
  const trial = newestTrial(store);
  const next = 'Make it: the button on the Replies screen, or braid trial.';
  if (trial === null) return { name, state: 'open', detail: 'not made yet', next };
  if (trial.model !== model)
    return { name, state: 'open', detail: `the newest was made with ${trial.model}, this run trains ${model}`, next };
  if (trial.go) return { name, state: 'done', detail: `go, with ${trial.model}`, next: null };
  return {
    name,
    state: 'failed',
    detail: `no-go, with ${trial.model}`,
    next: 'Read its criteria, mend what failed, test again.',
  };
}

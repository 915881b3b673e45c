/** Checklist items, one function each: done, open or failed, why, and what to do. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { BraidError } from '../../errors.ts';
import { knownDiskSpace } from '../../io/disk-space.ts';
import { hostMemory } from '../../io/memory.ts';
import type { Store } from '../../store/index.ts';
import type { TaskFacts } from '../../tasks/task.ts';
import { counted, formatBytes } from '../../text/format.ts';
import { weightsFault } from '../../trainer/config/combinations.ts';
import { isReinforcement, type TrainConfig } from '../../trainer/config/config.ts';
import { readModelConfig } from '../../trainer/memory/model-folder.ts';
import type { FileFacts } from '../datasets/record-facts.ts';
import { knownMachineMemory } from '../doctor/machine-memory.ts';
import { resolveModelParts } from '../models/resolve.ts';
import { chosenStartingModel, startingModel } from '../models/starting-model.ts';
import { resolveStart } from '../runs/from-checkpoint.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { checkpointBytes, trainableOf } from './checkpoint-disk.ts';
import { expectedMemory } from './demand.ts';
import { newestTrial } from './trial-memory.ts';

export interface ChecklistItem<N extends string = string> {
  readonly name: N;
  readonly state: 'done' | 'open' | 'failed';
  readonly detail: string;
  /** What to do about it; null if nothing. */
  readonly next: string | null;
}

type Item = <N extends string>(name: N, detail: string, next: string | null) => ChecklistItem<N>;

export const done = <N extends string>(name: N, detail: string): ChecklistItem<N> => ({
  name,
  state: 'done',
  detail,
  next: null,
});
export const open: Item = (name, detail, next) => ({ name, state: 'open', detail, next });
export const failed: Item = (name, detail, next) => ({ name, state: 'failed', detail, next });

/** Free bytes required for samples, history and everything else. */
const FREE_BYTES = 2 * 2 ** 30;

/** Whether the model that the run would train exists. A missing checkpoint is a finding of its own (`warmStart`). */
export function modelItem(
  store: Store,
  config: Pick<TrainConfig, 'model' | 'from_checkpoint'>,
  paths: HostPaths,
): ChecklistItem<'model'> {
  const next = 'Give a model folder, or the name of a bundled model.';
  return attempt('model', next, () => {
    const { from_checkpoint: from } = config;
    const isGone = from !== null && attempt('warm_start', '', () => resolveStart(store, from)).state === 'failed';
    return chosenStartingModel(store, isGone ? { ...config, from_checkpoint: null } : config, paths).folder;
  });
}

/** An item that is done if the function succeeds, and failed with its error otherwise. */
export function attempt<N extends string>(name: N, next: string, work: () => string): ChecklistItem<N> {
  try {
    return done(name, work());
  } catch (error) {
    if (error instanceof BraidError) return failed(name, error.message, next);
    throw error;
  }
}

/** The starting point of GRPO on replies. */
export function warmStart(store: Store, config: TrainConfig): ChecklistItem<'warm_start'>[] {
  const { from_checkpoint: start, method, task, warm_up_steps: steps } = config;
  if (start !== null)
    return [attempt('warm_start', 'Finish training that run first.', () => resolveStart(store, start))];
  if (task !== 'reply' || !isReinforcement(method) || steps > 0) return [];
  return [
    open(
      'warm_start',
      'none: GRPO starts from the base model',
      'Fine-tune it on human replies first; GRPO is more stable from there.',
    ),
  ];
}

/** Whether two files share no prompt. */
export function overlapItem<N extends string>(name: N, shared: number, clean: string): ChecklistItem<N> {
  if (shared === 0) return done(name, clean);
  const next = "Split again: scores on training prompts don't measure what was learned.";
  return failed(
    name,
    `${counted(shared, 'record repeats a prompt', 'records repeat prompts')} of the other side`,
    next,
  );
}

/** Whether a file of records can be read, and how many it has. */
export function fileItem<N extends string>(
  name: N,
  file: string,
  facts: FileFacts | undefined,
  remedy: string,
): ChecklistItem<N> {
  if (facts?.kind === 'good') return done(name, `${counted(facts.records, 'record')} in ${file}`);
  return failed(name, facts?.reason ?? `${file}: not checked`, remedy);
}

/** Whether the weights match the reward's components. */
export function rewardItem(
  config: TrainConfig,
  task: Pick<TaskFacts, 'name' | 'rewardNames' | 'rewardWeights'>,
): ChecklistItem<'reward'> {
  const fault = weightsFault(config, task);
  if (fault !== null) return failed('reward', fault.message, fault.remedy);
  const weights = config.reward_weights ?? task.rewardWeights ?? [];
  const detail = task.rewardNames.map((name, i) => `${name} ${weights[i] ?? 1}`).join(', ');
  return done('reward', detail);
}

/** The run's expected memory use. */
export function memoryItem(store: Store, config: TrainConfig, paths: HostPaths): ChecklistItem<'memory'> {
  const name = 'memory';
  const next = 'Use LoRA, a smaller per_device_train_batch_size or activation_memory_mb, or a smaller model.';
  try {
    const { folder, model } = startingModel(store, config, paths);
    const machine = knownMachineMemory(paths);
    const needed = expectedMemory(store, { ...config, model }, folder, paths, machine);
    const { freeBytes, totalBytes } = hostMemory();
    const ofGpu = needed.gpu > 0 ? `, ${formatBytes(needed.gpu)} of the GPU's` : '';
    const gpuFree = machine.gpu === null ? '' : ` and ${formatBytes(machine.gpu.freeBytes)} of the GPU's`;
    const free = `${formatBytes(freeBytes)}${ofGpu === '' ? '' : gpuFree} free`;
    const detail = `about ${formatBytes(needed.host)} expected${ofGpu}, ${free}`;
    if (needed.host > totalBytes) return failed(name, detail, next);
    if (needed.host > freeBytes || needed.gpu > (machine.gpu?.freeBytes ?? Number.POSITIVE_INFINITY))
      return open(name, detail, `Close other programs. ${next}`);
    return done(name, detail);
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    return open(name, 'unknown without the model', error.message);
  }
}

/** Free space on the workspace's disk, with room for so many bytes of checkpoints. */
export function diskItem(folder: string, checkpoints = 0): ChecklistItem<'disk'> {
  const place = existsSync(folder) ? folder : dirname(folder);
  const free = knownDiskSpace(place)?.freeBytes;
  if (free === undefined) return open('disk', 'unknown on this system', null);
  const needed = FREE_BYTES + checkpoints;
  const detail = `${formatBytes(free)} free at ${place}`;
  if (free >= needed) return done('disk', detail);
  return failed('disk', detail, `Free some space: checkpoints, samples and history need ${formatBytes(needed)}.`);
}

/** Bytes of a run's checkpoints; 0 without the model, which is a finding of its own. */
export function expectedCheckpoints(store: Store, config: TrainConfig, paths: HostPaths): number {
  try {
    const { base } = resolveModelParts(startingModel(store, config, paths).folder, paths);
    return checkpointBytes(trainableOf(readModelConfig(base), config), config);
  } catch (error) {
    if (error instanceof BraidError) return 0;
    throw error;
  }
}

/** Whether the newest small-scale test was made with this model, and passed. */
export function trialItem(store: Store, model: string): ChecklistItem<'small_scale_test'> {
  const name = 'small_scale_test';
  const trial = newestTrial(store);
  const next = 'Run it with the button on the Replies screen, or with braid trial.';
  if (trial === null) return open(name, 'not run yet', next);
  if (trial.model !== model) return open(name, `the newest one used ${trial.model}, this run trains ${model}`, next);
  if (trial.go) return done(name, `go, with ${trial.model}`);
  return failed(name, `no-go, with ${trial.model}`, 'Read its criteria, fix what failed, then test again.');
}

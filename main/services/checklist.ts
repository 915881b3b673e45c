/** What to have ready before a long run: each point done, open or failed, and why. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { BraidError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import { taskByName } from '../tasks/index.ts';
import type { TrainConfig } from '../trainer/config.ts';
import { datasetFiles, readDataset } from './datasets.ts';
import { diskSpace } from './disk-space.ts';
import { resolveModel } from './models.ts';
import type { HostPaths } from './paths.ts';
import { newestTrial } from './trial.ts';

export interface ChecklistItem {
  readonly name: 'model' | 'dataset' | 'held_out' | 'disjoint' | 'reward' | 'disk' | 'small_scale_test';
  readonly state: 'done' | 'open' | 'failed';
  readonly detail: string;
}

/** Bytes that checkpoints, samples and history should find free. */
const FREE_BYTES = 2 * 2 ** 30;

/** Looks at everything that a run of this configuration needs. */
export function checklist(store: Store, config: TrainConfig, paths: HostPaths): readonly ChecklistItem[] {
  return [
    attempt('model', () => resolveModel(config.model, paths)),
    ...datasetItems(config),
    rewardItem(config),
    diskItem(store.folder),
    trialItem(store, config),
  ];
}

function attempt(name: ChecklistItem['name'], work: () => string): ChecklistItem {
  try {
    return { name, state: 'done', detail: work() };
  } catch (error) {
    if (error instanceof BraidError) return { name, state: 'failed', detail: error.message };
    throw error;
  }
}

function datasetItems(config: TrainConfig): ChecklistItem[] {
  const task = taskByName(config.task);
  const file = resolve(config.dataset);
  const test = config.eval_dataset === null ? datasetFiles(file).test : resolve(config.eval_dataset);
  const dataset = attempt('dataset', () => `${readDataset(file, task).length} records in ${file}`);
  if (!existsSync(test))
    return [dataset, { name: 'held_out', state: 'open', detail: `no held-out records at ${test}` }];
  const heldOut = attempt('held_out', () => `${readDataset(test, task).length} records in ${test}`);
  if (dataset.state === 'failed' || heldOut.state === 'failed') return [dataset, heldOut];
  const known = new Set(readDataset(file, task).map(({ prompt }) => prompt));
  const shared = readDataset(test, task).filter(({ prompt }) => known.has(prompt)).length;
  const disjoint: ChecklistItem = {
    name: 'disjoint',
    state: shared === 0 ? 'done' : 'failed',
    detail: shared === 0 ? 'no held-out prompt is trained on' : `${shared} held-out prompts are trained on`,
  };
  return [dataset, heldOut, disjoint];
}

function rewardItem(config: TrainConfig): ChecklistItem {
  const { rewardNames, rewardWeights } = taskByName(config.task);
  const weights = config.reward_weights ?? rewardWeights ?? rewardNames.map(() => 1);
  const fits = weights.length === rewardNames.length;
  return {
    name: 'reward',
    state: fits && weights.some((weight) => weight > 0) ? 'done' : 'failed',
    detail: fits
      ? rewardNames.map((name, i) => `${name} ${weights[i]}`).join(', ')
      : `expected ${rewardNames.length} weights (${rewardNames.join(', ')}), got ${weights.length}`,
  };
}

function diskItem(folder: string): ChecklistItem {
  const place = existsSync(folder) ? folder : dirname(folder);
  const free = diskSpace(place).freeBytes;
  return {
    name: 'disk',
    state: free >= FREE_BYTES ? 'done' : 'failed',
    detail: `${(free / 2 ** 30).toFixed(1)} GiB free at ${place}`,
  };
}

function trialItem(store: Store, config: TrainConfig): ChecklistItem {
  const name = 'small_scale_test';
  if (config.task !== 'reply')
    return { name, state: 'done', detail: 'not needed: a stage of few words is its own test' };
  const trial = newestTrial(store);
  if (trial === null) return { name, state: 'open', detail: 'not made yet: braid trial' };
  if (trial.model !== config.model)
    return { name, state: 'open', detail: `the newest was made with ${trial.model}, this run trains ${config.model}` };
  return { name, state: trial.go ? 'done' : 'failed', detail: trial.go ? 'go' : 'no-go: read its criteria' };
}

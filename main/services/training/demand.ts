/** Estimates a run's memory before its trainer has measured anything. */

import { BraidError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import {
  type Device,
  isOnGpu,
  keptAs,
  type MemoryUse,
  memoryUse,
  residentsOfRun,
} from '../../trainer/memory/budget.ts';
import { modelsBytes } from '../../trainer/memory/float32-bytes.ts';
import { readModelConfig } from '../../trainer/memory/model-folder.ts';
import { storedBytes } from '../../trainer/memory/stored-bytes.ts';
import { budgetFor, deviceFor, type MachineMemory, takenHere } from '../doctor/machine-memory.ts';
import { resolveModelParts } from '../models/resolve.ts';
import { savedFields } from '../runs/saved-config.ts';
import { findTask, type TaskPlaces } from '../tasks/find-task.ts';
import { rewardModels } from '../tasks/reward-access.ts';
import type { HostPaths } from '../workspace/paths.ts';

/** Activations and caches of a usual run, where the trainer decides by what is free. */
const USUAL_MB = 1024;
/** A trainer whose model is elsewhere. */
const REMOTE_BYTES = 512 * 2 ** 20;
/** Runs searched for the estimate of an equal one. */
const LOOK_BACK = 20;

/** The trainer's estimate for the last equal run, otherwise one from the model's shape and what it will compute on. */
export function expectedMemory(
  store: Store,
  config: TrainConfig,
  modelFolder: string,
  paths: Pick<HostPaths, 'resources'>,
  machine: MachineMemory,
): MemoryUse {
  // Reward models are computed here and on the processor, whatever trains.
  const rewards = (): number => rewardMemory(config.task, { workspace: store.folder, paths });
  if (config.engine !== null) return { host: REMOTE_BYTES + rewards(), gpu: 0 };
  const measured = estimateOfLast(store, config, deviceFor(config.backend, machine));
  if (measured !== null) return takenHere(measured, machine);
  const { host, gpu } = takenHere(byShape(config, modelFolder, paths, machine), machine);
  return { host: host + rewards(), gpu };
}

function estimateOfLast(store: Store, config: TrainConfig, device: Device): MemoryUse | null {
  for (const run of store.runs.list({ limit: LOOK_BACK })) {
    if (!isLike(run, config)) continue;
    const estimate = store.events.ofRun(run.id).findLast(({ kind }) => kind === 'estimate');
    const { memoryBytes: host, gpuBytes: gpu } = (estimate?.data ?? {}) as { memoryBytes?: number; gpuBytes?: number };
    if (host === undefined) continue;
    // Earlier versions added what a GPU holds to the machine's memory.
    if (gpu !== undefined || !isOnGpu(device)) return { host, gpu: gpu ?? 0 };
  }
  return null;
}

function byShape(
  config: TrainConfig,
  modelFolder: string,
  paths: Pick<HostPaths, 'resources'>,
  machine: MachineMemory,
): MemoryUse {
  const { base } = resolveModelParts(modelFolder, paths);
  const model = readModelConfig(base);
  const budget = budgetFor(deviceFor(config.backend, machine), machine);
  const residents = residentsOfRun(config, model, budget);
  // The records aren't read for this; a prompt is about as long as its completion.
  const tokens = config.max_completion_length ?? 0;
  const kept = {
    ...residents,
    fileBytes: storedBytes(base),
    precision: keptAs(residents.precision, budget.device),
    promptTokens: tokens,
    completionTokens: tokens,
  };
  return memoryUse(model, kept, budget, (config.activation_memory_mb ?? budget.activationMb ?? USUAL_MB) * 2 ** 20);
}

function isLike(run: RunRow, config: TrainConfig): boolean {
  const same = ['model', 'dataset', 'task', 'method', 'use_peft', 'per_device_train_batch_size', 'backend'] as const;
  const sizes = [
    'lora_r',
    'beta',
    'max_completion_length',
    'activation_memory_mb',
    'gradient_accumulation_steps',
  ] as const;
  // A run on an engine elsewhere held no model here.
  const fields = ['engine', ...same, 'base_weights', 'num_generations', 'pods_update_size', ...sizes] as const;
  try {
    const saved = savedFields(run);
    // A field is absent from runs that are older than it.
    const sameProducts = (saved.compute_dtype ?? 'float32') === config.compute_dtype;
    return sameProducts && fields.every((field) => (saved[field] ?? null) === config[field]);
  } catch {
    // An earlier run whose record is damaged tells nothing, and must not keep others from starting.
    return false;
  }
}

/** In bytes; 0 for a task without models, and for one that can't be read: starting a run says why. */
function rewardMemory(task: string, places: TaskPlaces): number {
  try {
    const source = findTask(task, places);
    return typeof source === 'string' ? 0 : modelsBytes(rewardModels(source, places));
  } catch (error) {
    if (!(error instanceof BraidError)) throw error;
    return 0;
  }
}

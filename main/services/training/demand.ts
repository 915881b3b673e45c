/** Estimates a run's memory before its trainer has measured anything. */

import { freemem } from 'node:os';
import type { Store } from '../../store/index.ts';
import type { RunRow } from '../../store/runs.ts';
import type { TrainConfig } from '../../trainer/config.ts';
import { deviceBudget, precisionFor, usedBytes } from '../../trainer/memory/budget.ts';
import { readModelConfig } from '../../trainer/memory/model-folder.ts';
import { machineDevice } from '../doctor/model.ts';
import { resolveModelParts } from '../models/resolve.ts';
import { savedFields } from '../runs/saved-config.ts';
import type { HostPaths } from '../workspace/paths.ts';

/** Activations and caches of a usual run, where the trainer decides by what is free. */
const USUAL_MB = 1024;
/** Runs searched for the estimate of an equal one. */
const LOOK_BACK = 20;

/** The trainer's estimate for the last equal run, otherwise one from the model's shape. */
export function expectedMemory(
  store: Store,
  config: TrainConfig,
  modelFolder: string,
  paths: Pick<HostPaths, 'resources'>,
): number {
  for (const run of store.runs.list({ limit: LOOK_BACK })) {
    if (!isLike(run, config)) continue;
    const estimate = store.events.ofRun(run.id).findLast(({ kind }) => kind === 'estimate');
    const bytes = (estimate?.data as { memoryBytes?: number } | undefined)?.memoryBytes;
    if (bytes !== undefined) return bytes;
  }
  const model = readModelConfig(resolveModelParts(modelFolder, paths).base);
  const device = machineDevice();
  const { program, bytes } = deviceBudget(device, freemem());
  const trained = config.use_peft ? { rank: config.lora_r } : 'all';
  const precision = precisionFor(model, trained, { device, bytes });
  const copies = trained === 'all' && config.beta > 0 ? 1 : 0;
  const activations = (config.activation_memory_mb ?? USUAL_MB) * 2 ** 20;
  return usedBytes(model, { precision, trained, copies }, program, activations);
}

function isLike(run: RunRow, config: TrainConfig): boolean {
  const same = ['model', 'dataset', 'method', 'use_peft', 'per_device_train_batch_size'] as const;
  const fields = [...same, 'num_generations', 'pods_update_size'] as const;
  try {
    const saved = savedFields(run);
    // A field is absent from runs that are older than it.
    return fields.every((field) => (saved[field] ?? null) === config[field]);
  } catch {
    // An earlier run whose record is damaged tells nothing, and must not keep others from starting.
    return false;
  }
}

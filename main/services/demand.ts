/** What memory a run is expected to need before its trainer has measured anything. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Store } from '../store/index.ts';
import type { TrainConfig } from '../trainer/config.ts';
import { resolveModelParts } from './models.ts';
import type { HostPaths } from './paths.ts';

/** Node, kernels and working memory beside tensors (measured on the bundled model). */
const PROCESS_BYTES = 250 * 2 ** 20;
/** Runs looked at for the estimate of an equal one. */
const LOOK_BACK = 20;

/** The estimate that the trainer gave for the last equal run, else one from the sizes of the model's files. */
export function expectedMemory(
  store: Store,
  config: TrainConfig,
  modelFolder: string,
  paths: Pick<HostPaths, 'resources'>,
): number {
  for (const run of store.runs.list({ limit: LOOK_BACK })) {
    if (!alike(JSON.parse(run.configJson) as TrainConfig, config)) continue;
    const estimate = store.events.ofRun(run.id).findLast(({ kind }) => kind === 'estimate');
    const bytes = (estimate?.data as { memoryBytes?: number } | undefined)?.memoryBytes;
    if (bytes !== undefined) return bytes;
  }
  const weights = weightBytes(resolveModelParts(modelFolder, paths).base);
  // Float32 in memory, often 16 bits in files; full fine-tuning adds gradients and two moments.
  const copies = config.use_peft ? 2 : 8;
  return PROCESS_BYTES + weights * copies + config.activation_memory_mb * 2 ** 20;
}

function alike(a: TrainConfig, b: TrainConfig): boolean {
  const fields = ['model', 'dataset', 'method', 'use_peft', 'per_device_train_batch_size', 'num_generations'] as const;
  return fields.every((field) => a[field] === b[field]);
}

function weightBytes(folder: string): number {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.safetensors'))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

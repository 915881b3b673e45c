/** What `from_checkpoint` means: a folder, or the name of a run of this workspace (baseline/seed_42). */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inputError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import type { TrainConfig } from '../trainer/config.ts';
import { readAdapterFacts } from '../trainer/model-facts.ts';
import { newestCheckpoint } from './run-history.ts';

/** The folder of the checkpoint to start from: of a run that is named, its newest. */
export function resolveStart(store: Store, start: string): string {
  const folder = resolve(start);
  if (existsSync(folder)) return folder;
  const named = checkpointOfRun(store, start);
  if (named !== null) return named;
  throw inputError(
    'CHECKPOINT_MISSING',
    `${folder}: expected a checkpoint folder, there is none, and no run named "${start}" with a checkpoint either`,
    'Give the path of a checkpoint-<step> folder, or the name of a run of this workspace.',
  );
}

/** An adapter that is trained on keeps its own rank and scale, whatever was asked for: the run's record tells of those. */
export function adapterSettings(checkpoint: string): Partial<TrainConfig> {
  if (!existsSync(join(checkpoint, 'adapter_config.json'))) return {};
  const { rank, alpha, rslora } = readAdapterFacts(checkpoint);
  return { lora_r: rank, lora_alpha: alpha, use_rslora: rslora };
}

/** The newest checkpoint of the newest run of that name that has one; null where there is none. */
export function checkpointOfRun(store: Store, name: string): string | null {
  const named = store.runs.list({}).filter((run) => run.name === name);
  return named.map(({ id }) => newestCheckpoint(store, id)).find((found) => found !== undefined)?.path ?? null;
}

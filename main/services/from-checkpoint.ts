/** What `from_checkpoint` means: a folder, or the name of a run of this workspace (baseline/seed_42). */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BraidError, inputError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import type { TrainConfig } from '../trainer/config.ts';
import { readAdapterFacts } from '../trainer/model-facts.ts';
import { newestCheckpoint } from './run-history.ts';
import { findCheckpoint } from './runs.ts';

/** The folder of the checkpoint to start from: of a run that is named, its newest. */
export function resolveStart(store: Store, start: string): string {
  const folder = resolve(start);
  if (existsSync(folder)) return folder;
  const named = checkpointOfRun(store, start);
  if (named !== null) return named;
  const dropped = droppedCheckpoint(store, folder);
  if (dropped !== null) throw dropped;
  throw inputError(
    'CHECKPOINT_MISSING',
    `${folder}: expected a checkpoint folder, there is none, and no run named "${start}" with a checkpoint either`,
    'Give the path of a checkpoint-<step> folder, or the name of a run of this workspace.',
  );
}

/** Why a checkpoint of one of this workspace's runs is no longer there; null where no run of it made that folder. */
export function droppedCheckpoint(store: Store, folder: string): BraidError | null {
  const made = findCheckpoint(store, folder);
  const run = made === undefined ? undefined : store.runs.get(made.runId);
  if (made === undefined || run === undefined) return null;
  const newest = newestCheckpoint(store, run.id);
  const { save_total_limit: limit } = JSON.parse(run.configJson) as Partial<TrainConfig>;
  const why = typeof limit === 'number' ? `; the run keeps at most ${limit} (save_total_limit)` : '';
  const now = newest === undefined ? 'It has none now' : `Start from the one of step ${newest.step}`;
  return inputError(
    'CHECKPOINT_MISSING',
    `The checkpoint of step ${made.step} of ${run.name} is no longer there${why}`,
    run.state === 'running' || run.state === 'paused' ? `${now}, or wait until the run has ended.` : `${now}.`,
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

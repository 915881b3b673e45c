/**
 * Resolves `from_checkpoint`: the name of a run in this workspace (baseline/seed_42), or a folder. A name isn't taken for
 * the folder that happens to be called the same where the process was started: `./NAME` means that one.
 */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BraidError, inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import { ALL_TARGETS, LORA_TARGETS } from '../../trainer/config/schema.ts';
import { readAdapterFacts } from '../../trainer/memory/model-facts.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { newestCheckpoint } from './history.ts';
import { isPath } from './is-path.ts';
import { findCheckpoint } from './runs.ts';
import { savedFields } from './saved-config.ts';

/** The folder of the checkpoint to start from; for a run's name, its newest one. */
export function resolveStart(store: Store, start: string): string {
  const named = isPath(start) ? null : checkpointOfRun(store, start);
  if (named !== null) return named;
  const folder = resolve(start);
  if (existsSync(folder)) return folder;
  const dropped = droppedCheckpoint(store, folder);
  if (dropped !== null) throw dropped;
  const norRun = isPath(start) ? '' : `, and no run named "${start}" with a checkpoint`;
  throw inputError(
    'CHECKPOINT_MISSING',
    `${folder}: there is no such checkpoint folder${norRun}`,
    'Give the path of a checkpoint-<step> folder, or the name of a run in this workspace.',
  );
}

/** The folder that a kept configuration's start means, there or not; for a run's name, its newest checkpoint. */
export function startFolder(store: Store, start: string): string {
  return (isPath(start) ? null : checkpointOfRun(store, start)) ?? fromStoredPath(store.folder, start);
}

/** How a configuration that is kept names the start: a folder by its absolute path, a run by its name. */
export function startArgument(store: Store, start: string): string {
  const folder = resolve(start);
  if (isPath(start)) return folder;
  return checkpointOfRun(store, start) === null && existsSync(folder) ? folder : start;
}

/** Why a checkpoint of one of this workspace's runs is gone; null if none of its runs wrote that folder. */
export function droppedCheckpoint(store: Store, folder: string): BraidError | null {
  const made = findCheckpoint(store, folder);
  const run = made === undefined ? undefined : store.runs.get(made.runId);
  if (made === undefined || run === undefined) return null;
  const newest = newestCheckpoint(store, run.id);
  const { save_total_limit: limit } = savedFields(run);
  const why = typeof limit === 'number' ? `; the run keeps at most ${limit} (save_total_limit)` : '';
  const now = newest === undefined ? 'It has none now' : `Start from step ${newest.step}`;
  return inputError(
    'CHECKPOINT_MISSING',
    `The checkpoint of step ${made.step} of ${run.name} no longer exists${why}`,
    run.state === 'running' || run.state === 'paused' ? `${now}, or wait until the run has ended.` : `${now}.`,
  );
}

/** An adapter that is trained further keeps its own rank, scale and layers, whatever is configured: the run records those. */
export function adapterSettings(checkpoint: string, { engine }: Pick<TrainConfig, 'engine'>): Partial<TrainConfig> {
  if (!existsSync(join(checkpoint, 'adapter_config.json'))) return {};
  const { rank, alpha, rslora, layers } = readAdapterFacts(checkpoint);
  const own = LORA_TARGETS.filter((name) => layers.includes(name));
  return {
    ...{ lora_r: rank, lora_alpha: alpha, use_rslora: rslora },
    // Some models' layers have names of their own, which no configuration has; an engine adapts all that there are.
    ...(engine === null &&
      own.length === layers.length && {
        lora_target_modules: ALL_TARGETS.every((name) => layers.includes(name)) ? [...ALL_TARGETS] : own,
      }),
  };
}

/**
 * The newest checkpoint of the newest run with that name that has one, or of one that was started under it and renamed
 * since; null if there is none.
 */
export function checkpointOfRun(store: Store, name: string): string | null {
  const runs = store.runs.list({});
  const named = runs.filter((run) => run.name === name);
  const started = runs.filter((run) => run.name !== name && run.role === name);
  return (
    [...named, ...started].map(({ id }) => newestCheckpoint(store, id)).find((found) => found !== undefined)?.path ??
    null
  );
}

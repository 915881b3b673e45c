/** A run on the bundled tiny model whose held-out score is measured every few steps, for the study and the benchmarks. */
import { readPreset } from '../main/services/config/presets.ts';
import { startTraining } from '../main/services/training/training.ts';
import type { HostPaths } from '../main/services/workspace/paths.ts';
import { fromStoredPath } from '../main/services/workspace/workspace.ts';
import type { EvaluationRow } from '../main/store/evaluations.ts';
import type { Store } from '../main/store/index.ts';
import { parseConfig, type TrainConfig } from '../main/trainer/config/config.ts';

export interface MeasuredRun {
  /** The last one. */
  readonly checkpoint: string;
  /** All of them, by step. */
  readonly checkpoints: readonly { readonly step: number; readonly folder: string }[];
  readonly heldOut: readonly EvaluationRow[];
  /** Seconds of each step; evaluations and checkpoints are not part of it. */
  readonly times: readonly number[];
  /** Tokens after which a completion was cut off. */
  readonly maxCompletionLength: number;
}

/** Trains by the preset interleave-tiny with these fields over it. */
export async function trainMeasured(
  store: Store,
  paths: HostPaths,
  fields: Partial<TrainConfig>,
): Promise<MeasuredRun> {
  const own = { save_steps: 10_000, sample_steps: 10_000, eval_steps: 5, eval_records: 64 };
  const config = parseConfig({ ...readPreset('interleave-tiny', paths), ...own, ...fields }, 'a measured run');
  const run = startTraining(store, config, { paths });
  const { error, checkpoint } = await run.outcome;
  if (error !== null || checkpoint === null) throw error ?? new Error('Expected a checkpoint at the end, got none');
  return {
    checkpoint,
    checkpoints: store.checkpoints
      .ofRun(run.runId)
      .map(({ step, path }) => ({ step, folder: fromStoredPath(store.folder, path) })),
    heldOut: store.evaluations.ofRun(run.runId),
    times: store.metrics.series(run.runId, 'step_time').map(({ value }) => value),
    maxCompletionLength: completionLimit(store, run.runId),
  };
}

/** As the trainer reported it when it was ready. */
function completionLimit(store: Store, runId: number): number {
  const data = store.events.ofRun(runId).find(({ kind }) => kind === 'ready')?.data;
  if (typeof data === 'object' && data !== null && 'maxCompletionLength' in data)
    return Number(data.maxCompletionLength);
  throw new Error(`Expected run ${runId} to have reported its longest completion, got nothing`);
}

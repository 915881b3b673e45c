/** What a stage trains: its settings over the preset, its dataset, and the model that the stage before left. */
import { inputError } from '../errors.ts';
import type { Store } from '../store/index.ts';
import type { StageRow } from '../store/stages.ts';
import { parseConfig, type TrainConfig } from '../trainer/config.ts';
import type { HostPaths } from './paths.ts';
import { readPreset } from './presets.ts';
import { newestCheckpoint } from './run-history.ts';
import { fromStoredPath } from './workspace.ts';

/** The preset under the settings of a stage that names none. */
export const defaultPreset = 'interleave-tiny';

/** The configuration of the run that starting the stage now would make. */
export function stageConfig(store: Store, stage: StageRow, paths: Pick<HostPaths, 'resources'>): TrainConfig {
  const dataset = stage.datasetId === null ? undefined : store.datasets.get(stage.datasetId);
  if (dataset === undefined) {
    throw inputError(
      'STAGE_WITHOUT_DATASET',
      `Expected the stage "${stage.name}" to have a dataset, got none`,
      'Make one in Texts & datasets, or choose one in the curriculum.',
    );
  }
  const fields = {
    ...readPreset(defaultPreset, paths),
    from_checkpoint: checkpointBefore(store, stage),
    ...stage.config,
    dataset: fromStoredPath(store.folder, dataset.file),
    max_steps: stage.steps,
  };
  return parseConfig(fields, `stage "${stage.name}"`);
}

/** The newest checkpoint of the nearest earlier stage that has one; null at the start of a curriculum. */
export function checkpointBefore(store: Store, stage: Pick<StageRow, 'position'>): string | null {
  const earlier = store.stages.list().filter(({ position }) => position < stage.position);
  for (const { id } of earlier.reverse()) {
    const path = checkpointOf(store, id);
    if (path !== null) return path;
  }
  return null;
}

/** Where a stage's newest run that got anywhere stands; null when it has none. */
export function checkpointOf(store: Store, stageId: number): string | null {
  for (const run of store.runs.list({ stageId })) {
    const checkpoint = newestCheckpoint(store, run.id);
    if (checkpoint !== undefined) return checkpoint.path;
  }
  return null;
}

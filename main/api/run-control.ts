/** Starting and resuming runs on request, of a page or an agent: one set of checks for both. */
import { inputError } from '../errors.ts';
import { type ConfigFields, readPreset } from '../services/config/presets.ts';
import { refreshCheckpoints } from '../services/runs/history.ts';
import { runConfig } from '../services/runs/verdict/advice.ts';
import { type TaskPlaces, taskNames } from '../services/tasks/find-task.ts';
import { taskStartConfig } from '../services/tasks/start-config.ts';
import type { LiveRuns } from '../services/training/live-runs.ts';
import type { HostPaths } from '../services/workspace/paths.ts';
import type { Store } from '../store/index.ts';
import { parseConfig, type TrainConfig } from '../trainer/config/config.ts';
import { checkConfigPaths } from './config-paths.ts';
import type { PathAccess } from './context.ts';

export interface RunPlace {
  readonly store: Store;
  readonly paths: Pick<HostPaths, 'resources'>;
}

export interface NewRun {
  readonly preset: string;
  readonly like?: number | undefined;
  readonly task?: string | undefined;
  readonly config: Readonly<Record<string, unknown>>;
}

/**
 * The requested settings over those of a preset, of a run, or of a task's folder. Paths must be ones that the requester may
 * use, and become absolute.
 */
export function newRunConfig(place: RunPlace, access: PathAccess, request: NewRun): TrainConfig {
  return checkConfigPaths(parseConfig(baseFields(place, request), 'The new run'), access, place);
}

/** The same, neither completed nor checked. */
export function baseFields(place: RunPlace, request: NewRun): ConfigFields {
  return { ...usualFields(place, request), ...request.config };
}

function usualFields({ store, paths }: RunPlace, { preset, like, task }: NewRun): ConfigFields {
  if (like !== undefined) return runConfig(store, like);
  if (task !== undefined) return { ...taskFields(task, { workspace: store.folder, paths }), task };
  return readPreset(preset, paths);
}

/** By name only: `taskStartConfig` also reads a task's folder below the one in which the process was started. */
function taskFields(task: string, places: TaskPlaces): ConfigFields {
  return taskNames(places).includes(task) ? taskStartConfig(task, places) : {};
}

export interface Resumption {
  readonly runId: number;
  readonly checkpointId?: number | undefined;
  readonly maxSteps?: number | undefined;
}

/** Resumes after a pause, or resumes an ended run from its newest or the given checkpoint. */
export function resumeRun(store: Store, live: LiveRuns, { runId, checkpointId, maxSteps }: Resumption): void {
  const state = live.get(runId)?.state;
  // An exiting process takes no commands: `live.resume` reports that.
  if (state !== undefined && state !== 'ending') live.command(runId, 'resume');
  else
    live.resume(runId, {
      ...(checkpointId !== undefined && { checkpoint: requireCheckpoint(store, runId, checkpointId) }),
      ...(maxSteps !== undefined && { maxSteps }),
    });
}

function requireCheckpoint(store: Store, runId: number, checkpointId: number) {
  const checkpoint = refreshCheckpoints(store, runId).find(({ id }) => id === checkpointId);
  if (checkpoint === undefined)
    throw inputError('CHECKPOINT_UNKNOWN', `Expected a checkpoint of run ${runId}, got the id ${checkpointId}`);
  if (checkpoint.deletedAt === null) return checkpoint;
  throw inputError(
    'CHECKPOINT_MISSING',
    `${checkpoint.path}: expected a checkpoint folder, but it doesn't exist`,
    'Choose another checkpoint of the run.',
  );
}

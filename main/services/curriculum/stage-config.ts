/** What a stage trains: its settings over the preset, its dataset, and the previous stage's checkpoint. */
import { inputError } from '../../errors.ts';
import type { CheckpointRow } from '../../store/checkpoints.ts';
import type { Store } from '../../store/index.ts';
import type { StageRow } from '../../store/stages.ts';
import { parseConfig, type TrainConfig } from '../../trainer/config/config.ts';
import type { ConfigFields } from '../config/presets.ts';
import { otherBase } from '../models/starting-model.ts';
import { resolveStart } from '../runs/from-checkpoint.ts';
import { checkpointOutOfReach, newestCheckpoint, outOfReach, refreshCheckpoints } from '../runs/history.ts';
import { bestOf, promotionOf, scoresByStep } from '../runs/promotion.ts';
import { findCheckpoint } from '../runs/runs.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { fromStoredPath } from '../workspace/workspace.ts';
import { type StageTexts, sharedFields } from './shared-settings.ts';

/** Held-out evaluations of a stage after its baseline, each with a checkpoint that the next stage can start from. */
const EVALUATIONS = 6;

/**
 * The configuration of the run that starting the stage now would make. Throws where the stage before it has a checkpoint
 * that is out of reach: the stage would start from an earlier one.
 */
export function stageConfig(store: Store, stage: StageRow, paths: Pick<HostPaths, 'resources'>): TrainConfig {
  const config = plannedConfig(store, stage, paths);
  if (stage.config.from_checkpoint === undefined) checkReach(store, stage, paths);
  return config;
}

/** The same, from the checkpoint that can be found now: to estimate, not to start. */
export function plannedConfig(store: Store, stage: StageRow, paths: Pick<HostPaths, 'resources'>): TrainConfig {
  const dataset = stage.datasetId === null ? undefined : store.datasets.get(stage.datasetId);
  if (dataset === undefined) {
    throw inputError(
      'STAGE_WITHOUT_DATASET',
      `Expected the stage "${stage.name}" to have a dataset, got none`,
      'Generate one in Texts & datasets, or choose one in the curriculum.',
    );
  }
  const fields = {
    ...stageDefaults(store, stage, paths),
    ...stage.config,
    task: dataset.task,
    dataset: fromStoredPath(store.folder, dataset.file),
    max_steps: stage.steps,
  };
  return parseConfig(fields, `stage "${stage.name}"`);
}

/** What a stage would start from: by its own settings, otherwise the checkpoint of the stage before it. */
export function stageStart(
  store: Store,
  stage: StageRow,
  paths: Pick<HostPaths, 'resources'>,
): Pick<ConfigFields, 'model' | 'from_checkpoint'> {
  const { model, from_checkpoint } = { ...stageDefaults(store, stage, paths), ...stage.config };
  return { model, from_checkpoint };
}

/** A stage's default settings. */
export function stageDefaults(
  store: Store,
  stage: PlannedStage & Pick<StageRow, 'steps'>,
  paths: Pick<HostPaths, 'resources'>,
): ConfigFields {
  const every = Math.max(1, Math.round(stage.steps / EVALUATIONS));
  const intervals = { eval_steps: every, save_steps: every };
  const from_checkpoint = checkpointBefore(store, stage, paths)?.path ?? null;
  const own = stage.config?.from_checkpoint;
  // What a stage before it has trained is warm.
  const warm = (own === undefined ? from_checkpoint : own) === null ? {} : { warm_up_steps: 0 };
  if (typeof own !== 'string' || !isOfAnother(store, own, modelOf(store, stage, paths), paths))
    return { ...sharedFields(store, paths, stage), ...intervals, ...warm, from_checkpoint };
  // A checkpoint that the stage names itself goes before the model of all stages.
  const { model: _, ...others } = sharedFields(store, paths);
  return { ...others, ...intervals, ...warm, from_checkpoint };
}

/** A default learning rate that is smaller than the preset's because of a stage's long texts. */
export interface LoweredRate {
  readonly rate: number;
  readonly preset: number;
}

/** In a stage's defaults, unless the user has set one for all stages; null: it has the preset's. */
export function loweredRate(
  store: Pick<Store, 'settings'>,
  defaults: ConfigFields,
  paths: Pick<HostPaths, 'resources'>,
): LoweredRate | null {
  const rate = Number(defaults.learning_rate);
  const preset = Number(sharedFields(store, paths).learning_rate);
  return rate < preset ? { rate, preset } : null;
}

type PlannedStage = Pick<StageRow, 'position'> & StageTexts;

/**
 * The checkpoint of the nearest earlier stage that has one of the stage's model; null at the start of a curriculum, and
 * where the model was changed since.
 */
export function checkpointBefore(
  store: Store,
  stage: PlannedStage,
  paths: Pick<HostPaths, 'resources'>,
): CheckpointRow | null {
  const model = modelOf(store, stage, paths);
  for (const checkpoint of checkpointsBefore(store, stage))
    if (!isOfAnother(store, checkpoint.path, model, paths)) return checkpoint;
  return null;
}

/** Why the stage doesn't start from the checkpoint of the stage before it. */
export interface LeftCheckpoint {
  readonly runId: number;
  readonly step: number;
  /** What that checkpoint was trained from. */
  readonly base: string;
  /** What the stage trains. */
  readonly model: string;
}

/** The nearest earlier checkpoint, if it is of another model than the stage's; null if the stage can start from it. */
export function leftCheckpoint(
  store: Store,
  stage: PlannedStage,
  paths: Pick<HostPaths, 'resources'>,
): LeftCheckpoint | null {
  const [before] = checkpointsBefore(store, stage);
  if (before === undefined || stage.config?.from_checkpoint !== undefined) return null;
  const model = modelOf(store, stage, paths);
  const base = otherBase(store, fromStoredPath(store.folder, before.path), model, paths);
  return base === null ? null : { runId: before.runId, step: before.step, base, model };
}

/** Of the nearest stage first; looking for a checkpoint reads the disk. */
function* checkpointsBefore(store: Store, stage: PlannedStage): Generator<CheckpointRow> {
  const earlier = store.stages.list().filter(({ position }) => position < stage.position);
  for (const before of earlier.reverse()) {
    // Trained from the model itself, as it was set: nothing before it counts.
    if (before.metScore !== null && before.config.from_checkpoint === null) return;
    const checkpoint = nextStart(store, before);
    if (checkpoint !== null) yield checkpoint;
  }
}

/** Throws if the checkpoint that the stage would start from is out of reach: an earlier one would be taken instead. */
function checkReach(store: Store, stage: StageRow, paths: Pick<HostPaths, 'resources'>): void {
  const model = modelOf(store, stage, paths);
  const earlier = store.stages.list().filter((one) => one.position < stage.position && one.metScore === null);
  const runs = earlier.reverse().flatMap(({ id }) => store.runs.ofStage(id));
  for (const { id } of runs.filter(({ state }) => state !== 'collapsed')) {
    const newest = newestCheckpoint(store, id);
    const checkpoint = newest ?? checkpointOutOfReach(store, id);
    if (checkpoint === undefined || isOfAnother(store, checkpoint.path, model, paths)) continue;
    if (newest !== undefined) return;
    throw outOfReach(store, checkpoint, `"${stage.name}" can't start`, 'Nothing was started');
  }
}

function modelOf(store: Store, { config }: PlannedStage, paths: Pick<HostPaths, 'resources'>): string {
  return String(config?.model ?? sharedFields(store, paths).model ?? 'tiny');
}

function isOfAnother(store: Store, path: string, model: string, paths: Pick<HostPaths, 'resources'>): boolean {
  return otherBase(store, fromStoredPath(store.folder, path), model, paths) !== null;
}

/** The checkpoint that the next stage starts from: from the run with checkpoints that trained last, chosen by its rule. */
export function nextStart(store: Store, stage: StageRow): CheckpointRow | null {
  if (stage.metScore !== null) return ownStart(store, stage);
  for (const run of store.runs.ofStage(stage.id)) {
    if (run.state === 'collapsed') continue;
    const there = refreshCheckpoints(store, run.id).filter(({ deletedAt }) => deletedAt === null);
    const last = there.at(-1);
    if (last === undefined) continue;
    return promotionOf(stage)?.hand_on === 'best' ? bestOf(there, scoresByStep(store, run.id)) : last;
  }
  return null;
}

/** The checkpoint that a stage met without training names itself; null: it would have started from one before it. */
function ownStart(store: Store, { config: { from_checkpoint: own } }: StageRow): CheckpointRow | null {
  return typeof own === 'string' ? (findCheckpoint(store, resolveStart(store, own)) ?? null) : null;
}

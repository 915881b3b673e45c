/** What a new run's trainer is given, checked as far as the host can; nothing is stored. */
import { existsSync } from 'node:fs';
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { openTask, type TaskSource, taskFacts } from '../../tasks/index.ts';
import { stepsForEpochs } from '../../trainer/batching/batching.ts';
import { checkTaskWeights } from '../../trainer/config/combinations.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import type { TrainerStart } from '../../trainer/protocol/start.ts';
import { keptChatSettings } from '../../trainer/run/checkpoint.ts';
import { datasetFiles, readDataset } from '../datasets/index.ts';
import { type EngineAccess, engineFor } from '../engines/engine-for.ts';
import { chosenStartingModel } from '../models/starting-model.ts';
import { adapterSettings } from '../runs/from-checkpoint.ts';
import { findTask } from '../tasks/find-task.ts';
import { type RewardTrust, rewardAccess } from '../tasks/reward-access.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { withAbsolutePaths } from './absolute-paths.ts';

/** The part of a trainer's input that a run's configuration determines. */
export type PlannedStart = Pick<
  TrainerStart,
  'config' | 'task' | 'rewardAccess' | 'modelFolder' | 'records' | 'evalRecords' | 'engine'
>;

/** The trainer's input for a new run. Invalid input throws. */
export function plannedStart(
  store: Store,
  config: TrainConfig,
  paths: HostPaths,
  access?: EngineAccess & RewardTrust,
): PlannedStart {
  const engine = engineFor(config, access);
  const task = findTask(config.task, { workspace: store.folder, paths });
  checkTaskWeights(config, taskFacts(task));
  const { config: resolved, modelFolder } = resolveConfig(store, config, paths);
  const reward = rewardAccess(task, { workspace: store.folder, paths }, access);
  const inputs = readInputs(resolved, task);
  const timed = withEpochs(resolved, inputs.records.length);
  return { config: timed, task, engine, rewardAccess: reward, ...inputs, modelFolder };
}

/** The saved form: absolute paths, and a checkpoint's own model and settings. */
function resolveConfig(store: Store, config: TrainConfig, paths: HostPaths) {
  const absolute = withAbsolutePaths(store, config, paths);
  const { test } = datasetFiles(absolute.dataset);
  const { folder: modelFolder, model, from } = chosenStartingModel(store, config, paths);
  const resolved: TrainConfig = {
    ...absolute,
    ...(from !== null && config.use_peft && adapterSettings(from, config)),
    ...keptChatSettings(config, from ?? modelFolder),
    model,
    eval_dataset: absolute.eval_dataset ?? (existsSync(test) ? test : null),
    from_checkpoint: from,
  };
  return { config: resolved, modelFolder };
}

/** With the steps that its epochs are. */
function withEpochs(config: TrainConfig, records: number): TrainConfig {
  const { num_train_epochs: epochs } = config;
  return epochs === null ? config : { ...config, max_steps: stepsForEpochs(config, records, epochs) };
}

/** The records to train on, at least one, and those to evaluate. */
export function readInputs(config: TrainConfig, source: TaskSource): Pick<PlannedStart, 'records' | 'evalRecords'> {
  // Records are read without the reward, so it starts no thread.
  const task = openTask(source, '');
  const records = readDataset(config.dataset, task);
  const evalRecords = config.eval_dataset === null ? [] : readDataset(config.eval_dataset, task);
  if (records.length === 0)
    throw inputError('EMPTY_DATASET', `${config.dataset}: expected at least one record, got none`);
  return { records, evalRecords };
}

/**
 * The configuration of a run that starts later, perhaps in a process started in another folder: checked as a new run is,
 * with absolute paths.
 */
export function plannedLater(
  store: Store,
  config: TrainConfig,
  paths: HostPaths,
  access?: EngineAccess & RewardTrust,
): TrainConfig {
  plannedStart(store, config, paths, access);
  return withAbsolutePaths(store, config, paths);
}

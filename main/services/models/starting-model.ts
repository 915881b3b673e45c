/** The model that a configuration trains: start, admission, checklists and forms all find it here. */
import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { Store } from '../../store/index.ts';
import type { TrainConfig } from '../../trainer/config.ts';
import type { ConfigFields } from '../config/presets.ts';
import { resolveStart } from '../runs/from-checkpoint.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { isBundled, modelArgument, resolveModel, resolveStartingModel } from './resolve.ts';

type Paths = Pick<HostPaths, 'resources'>;
type Start = Pick<TrainConfig, 'model' | 'from_checkpoint'>;

export interface StartingModel {
  readonly folder: string;
  /** How a run's record names it: a bundled model by its name, otherwise the folder. */
  readonly model: string;
  /** The checkpoint's folder; null: the run starts from the model. */
  readonly from: string | null;
}

/** A path from the workspace, as presets name models (`models/NAME`): the desktop has no folder that it is started in. */
export function inWorkspace(model: string, workspace: string, paths: Paths): string {
  if (isAbsolute(model) || isBundled(model, paths)) return model;
  return [resolve(model), join(workspace, model)].find((folder) => existsSync(folder)) ?? model;
}

/** The same fields, the model named by its folder where that is in the workspace: so does the list of models. */
export function withModelHere<F extends ConfigFields>(fields: F, { folder }: Pick<Store, 'folder'>, paths: Paths): F {
  return typeof fields.model === 'string' ? { ...fields, model: inWorkspace(fields.model, folder, paths) } : fields;
}

/** What a run of this configuration trains: a checkpoint's own model overrides the configuration's default. */
export function startingModel(store: Store, { model, from_checkpoint: start }: Start, paths: Paths): StartingModel {
  const from = start === null ? null : resolveStart(store, start);
  const named = inWorkspace(model, store.folder, paths);
  const folder = from === null ? resolveModel(named, paths) : resolveStartingModel(from, named, paths);
  return { folder, model: modelArgument(folder, paths), from };
}

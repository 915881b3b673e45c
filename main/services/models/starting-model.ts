/** The model that a configuration trains: start, admission, checklists and forms all find it here. */
import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { type TrainConfig, trainConfigSchema } from '../../trainer/config/config.ts';
import { refuseAdapter } from '../../trainer/memory/model-folder.ts';
import { listPresets } from '../config/form.ts';
import type { ConfigFields } from '../config/presets.ts';
import { resolveStart } from '../runs/from-checkpoint.ts';
import { findCheckpoint } from '../runs/runs.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { baseOfAdapter, isBundled, modelArgument, ownModel, resolveModel, resolveStartingModel } from './resolve.ts';

type Paths = Pick<HostPaths, 'resources' | 'models'>;
type Start = Pick<TrainConfig, 'model' | 'from_checkpoint'>;

export interface StartingModel {
  readonly folder: string;
  /** How a run's record names it: a bundled model by its name, otherwise the folder. */
  readonly model: string;
  /** The checkpoint's folder; null: the run starts from the model. */
  readonly from: string | null;
}

/** A name or a path from the workspace (`models/NAME`, as in presets): the desktop has no folder that it is started in. */
export function inWorkspace(model: string, workspace: string, paths: Paths): string {
  if (isAbsolute(model) || isBundled(model, paths)) return model;
  const found = [resolve(model), join(workspace, model)].find((folder) => existsSync(folder));
  return found ?? ownModel(model, { models: join(workspace, 'models') }) ?? model;
}

/** The same fields, the model named by its folder where that is in the workspace: so does the list of models. */
export function withModelHere<F extends ConfigFields>(fields: F, { folder }: Pick<Store, 'folder'>, paths: Paths): F {
  return typeof fields.model === 'string' ? { ...fields, model: inWorkspace(fields.model, folder, paths) } : fields;
}

/** The bundled presets, with models of this workspace as the list of models names them. */
export function presetsHere({ store, paths }: { readonly store: Pick<Store, 'folder'>; readonly paths: Paths }) {
  return listPresets(paths).map((preset) => ({ ...preset, fields: withModelHere(preset.fields, store, paths) }));
}

/** What a run of this configuration trains: a checkpoint's own model overrides the configuration's. */
export function startingModel(store: Store, { model, from_checkpoint: start }: Start, paths: Paths): StartingModel {
  const from = start === null ? null : resolveStart(store, start);
  const named = inWorkspace(model, store.folder, paths);
  const folder = from === null ? resolveModel(named, paths) : resolveStartingModel(from, named, paths);
  if (from === null) refuseAdapter(folder);
  return { folder, model: modelArgument(folder, paths), from };
}

/** The same for a new run: it is refused where the configuration chose one model and the checkpoint has another. */
export function chosenStartingModel(store: Store, config: Start, paths: Paths): StartingModel {
  const found = startingModel(store, config, paths);
  if (found.from === null || config.model === DEFAULT_MODEL) return found;
  const base = otherBase(store, found.from, config.model, paths);
  if (base === null) return found;
  throw inputError(
    'MODEL_MISMATCH',
    `The checkpoint ${found.from} was trained from ${base}, but the configuration names the model ${config.model}`,
    `Nothing was started. To train the checkpoint further, set model to ${base}; to train ${config.model} from its own weights, leave from_checkpoint out.`,
  );
}

/** What `model` is where nobody chose one: the checkpoint decides then. */
const DEFAULT_MODEL = trainConfigSchema.shape.model.parse(undefined);

/** The model that a checkpoint was trained from, if that is known and isn't this one; otherwise null. */
export function otherBase(store: Store, checkpoint: string, model: string, paths: Paths): string | null {
  const folders = lineage(store, checkpoint, paths);
  const base = folders.at(-1);
  // Of a checkpoint from elsewhere, or whose model has moved, nothing is known to compare with.
  if (base === undefined || folders.length < 2 || !existsSync(base)) return null;
  const named = realPath(folderOf(inWorkspace(model, store.folder, paths), paths));
  return folders.some((folder) => realPath(folder) === named) ? null : modelArgument(base, paths);
}

/** The model at the beginning of it all, as a run's record names it: that of the first run of a line of checkpoints. */
export function rootModel(store: Store, { model, from_checkpoint: start }: Start, paths: Paths): string {
  if (start === null) return modelArgument(folderOf(inWorkspace(model, store.folder, paths), paths), paths);
  const from = resolveStart(store, start);
  return modelArgument(lineage(store, from, paths).at(-1) ?? from, paths);
}

/** A checkpoint, what it was trained from, and so on: an adapter's base, and what runs of this workspace started from. */
function lineage(store: Store, checkpoint: string, paths: Paths): readonly string[] {
  const folders: string[] = [];
  for (let at: string | null = checkpoint; at !== null && !folders.includes(at); at = under(store, at, paths))
    folders.push(at);
  return folders;
}

function under(store: Store, folder: string, paths: Paths): string | null {
  const base = baseOfAdapter(folder, paths);
  if (base !== null) return base;
  const made = findCheckpoint(store, folder);
  const run = made === undefined ? undefined : store.runs.get(made.runId);
  return run === undefined ? null : folderOf(run.model, paths);
}

function folderOf(model: string, paths: Paths): string {
  return isBundled(model, paths) ? join(paths.resources, 'models', model) : resolve(model);
}

function realPath(folder: string): string {
  return existsSync(folder) ? realpathSync(folder) : folder;
}

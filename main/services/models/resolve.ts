/** Resolves model arguments to folders. */

import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { BraidError, inputError } from '../../errors.ts';
import { parseJson } from '../../io/json.ts';
import { readRegular } from '../../io/read-file.ts';
import { namesIn, otherWeights } from '../../trainer/memory/model-folder.ts';
import type { ModelParts } from '../../trainer/policy/model-parts.ts';
import { mayBeBase } from '../../trainer/policy/starting-weights.ts';
import type { HostPaths } from '../workspace/paths.ts';
import { downloadedHubModel, HUB_NAME, notDownloaded } from './hub-origin.ts';

type Paths = Pick<HostPaths, 'resources' | 'models'>;

/** Whether this is the name of a bundled model. */
export function isBundled(model: string, paths: Paths): boolean {
  return /^[\w.-]+$/.test(model) && existsSync(join(paths.resources, 'models', model, 'config.json'));
}

/** How a configuration names the model in a folder: a bundled one by its name, which is valid on any machine. */
export function modelArgument(folder: string, paths: Paths): string {
  const name = basename(folder);
  return isBundled(name, paths) && folder === join(paths.resources, 'models', name) ? name : folder;
}

/** The folder of the workspace's model of this name, as the list of models or the Hub has it; null: there is none. */
export function ownModel(model: string, { models }: Pick<Paths, 'models'>): string | null {
  if (models === undefined) return null;
  if (HUB_NAME.test(model)) return downloadedHubModel(models, model);
  const folder = join(models, model);
  return basename(folder) === model && existsSync(join(folder, 'config.json')) ? folder : null;
}

/** The folder of a model: a path, or the name of a bundled model ("tiny") or of one of the workspace. */
export function resolveModel(model: string, paths: Paths): string {
  const folder = isBundled(model, paths) ? join(paths.resources, 'models', model) : resolve(model);
  if (existsSync(join(folder, 'config.json')) || existsSync(join(folder, 'adapter_config.json'))) return folder;
  const own = ownModel(model, paths);
  if (own !== null) return own;
  if (HUB_NAME.test(model) && !existsSync(folder))
    throw notDownloaded(model, 'download it from the Hugging Face Hub on the Models screen');
  const other = otherWeights(namesIn(folder));
  const inside = modelInside(folder);
  throw inputError(
    'MODEL_MISSING',
    `${folder}: expected a model folder with a config.json (or a checkpoint with an adapter), but there is ${other === null ? 'none' : `only ${other.what}`}`,
    (inside === null ? other?.remedy : `Give the one inside: ${inside}`) ??
      'Give the path of a Hugging Face model folder or of a checkpoint, or a name of the list of models, such as "tiny".',
  );
}

/** How deep below an output folder trainers write: verl in global_step_20/actor/lora_adapter. */
const DEEPEST = 3;

/** The newest model or adapter inside a folder of checkpoints; null: there is none. */
function modelInside(folder: string, depth = 1): string | null {
  const folders = newestFolders(folder);
  for (const name of folders) {
    const path = join(folder, name);
    const names = namesIn(path);
    const isModel = names.includes('config.json') && names.some((file) => /^model\b.*\.safetensors$/.test(file));
    if (isModel || names.includes('adapter_model.safetensors')) return path;
  }
  if (depth === DEEPEST) return null;
  for (const name of folders) {
    const found = modelInside(join(folder, name), depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** Of a large folder, such as a home, some. */
const MOST_FOLDERS = 20;
const byNumber = new Intl.Collator('en', { numeric: true });

function newestFolders(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const names = entries.flatMap((entry) => (entry.isDirectory() ? entry.name : []));
    return names.sort((a, b) => byNumber.compare(b, a)).slice(0, MOST_FOLDERS);
  } catch {
    // It isn't there, or may not be read: nothing is known of it then.
    return [];
  }
}

/**
 * The parts of a model, a full checkpoint or a LoRA checkpoint. An adapter's base is `base` if given, otherwise what
 * its own adapter_config.json names: an absolute path, a bundled model, one of the Hub that is in the workspace, a path from
 * the checkpoint, or one from the current directory. In this order: a folder that has the name by chance must not win.
 */
export function resolveModelParts(model: string, paths: Paths, base?: string): ModelParts {
  const folder = resolveModel(model, paths);
  if (!existsSync(join(folder, 'adapter_config.json'))) {
    if (base === undefined) return { base: folder, adapter: null, tokenizer: folder };
    throw inputError(
      'BAD_OPTION',
      `Expected --base only with a LoRA checkpoint, but ${folder} is a full model`,
      'Leave --base out.',
    );
  }
  const under = base === undefined ? baseOf(folder, paths) : resolveModel(base, paths);
  if (!existsSync(join(under, 'config.json'))) {
    throw inputError(
      'BASE_MISSING',
      `${under}: expected a full model as the adapter's base, got another adapter`,
      GIVE_BASE,
    );
  }
  const own = existsSync(join(folder, 'tokenizer.json'));
  return { base: under, adapter: folder, tokenizer: own ? folder : under };
}

/**
 * The model that a stage from `checkpoint` trains: a full checkpoint itself, or the adapter's base. `otherwise` if the
 * adapter's base isn't here: PEFT adapters often name a model on the Hugging Face Hub.
 */
export function resolveStartingModel(checkpoint: string, otherwise: string, paths: Paths): string {
  const folder = resolveModel(checkpoint, paths);
  if (!existsSync(join(folder, 'adapter_config.json'))) return folder;
  return baseOfAdapter(folder, paths) ?? resolveModel(otherwise, paths);
}

/** The base of an adapter; null if it isn't here, or the folder isn't an adapter. */
export function baseOfAdapter(folder: string, paths: Paths): string | null {
  if (!existsSync(join(folder, 'adapter_config.json'))) return null;
  try {
    return resolveModelParts(folder, paths).base;
  } catch (error) {
    if (error instanceof BraidError && error.code === 'BASE_MISSING') return null;
    throw error;
  }
}

const GIVE_BASE = "Restore the adapter's base model (one of the Hub: download it on the Models screen).";

function baseOf(adapter: string, paths: Paths): string {
  const file = join(adapter, 'adapter_config.json');
  const name = baseName(file);
  if (!isAbsolute(name)) {
    if (isBundled(name, paths)) return join(paths.resources, 'models', name);
    const downloaded = paths.models && HUB_NAME.test(name) ? downloadedHubModel(paths.models, name) : null;
    if (downloaded !== null) return downloaded;
  }
  // An absolute name is the same from both.
  const places = [
    resolve(adapter, name),
    resolve(name),
    ...sinceMoved(adapter, name, paths),
    ...sinceUpdated(adapter, name, paths),
  ];
  const found = places.find((place) => existsSync(join(place, 'config.json')));
  if (found !== undefined) return found;
  throw inputError('BASE_MISSING', `${file}: the base model "${name}" doesn't exist`, GIVE_BASE);
}

/** Where the base of one of this workspace's own checkpoints is, named before the workspace was moved with both. */
function sinceMoved(adapter: string, name: string, { models }: Paths): string[] {
  const root = dirname(models ?? '');
  if (models === undefined || !isAbsolute(name) || !adapter.startsWith(join(root, 'outputs') + sep)) return [];
  const parts = name.split(/[\\/]/);
  const inside = parts.flatMap((part, i) => (part === 'models' || part === 'outputs' ? [parts.slice(i)] : []));
  return inside.map((rest) => join(root, ...rest));
}

/** The bundled model that an adapter's base is, named where the app lay before an update, or an AppImage before this start. */
function sinceUpdated(adapter: string, name: string, paths: Paths): string[] {
  const bundled = /[\\/]resources[\\/]models[\\/]([\w.-]+)$/.exec(name)?.[1] ?? '';
  if (!isBundled(bundled, paths)) return [];
  const folder = join(paths.resources, 'models', bundled);
  return mayBeBase(adapter, folder) ? [folder] : [];
}

/** As much as is read of it when it is loaded. */
const LARGEST_ADAPTER_CONFIG = 2 ** 20;

function baseName(file: string): string {
  let value: unknown;
  try {
    value = parseJson(readRegular(file, LARGEST_ADAPTER_CONFIG).toString('utf8'));
  } catch (cause) {
    throw inputError('BAD_ADAPTER_CONFIG', `${file}: expected JSON (${(cause as Error).message})`, GIVE_BASE);
  }
  const name = (value as { readonly base_model_name_or_path?: unknown } | null)?.base_model_name_or_path;
  if (typeof name === 'string' && name !== '') return name;
  throw inputError(
    'BASE_MISSING',
    `${file}: expected "base_model_name_or_path" to name the base model, got ${(JSON.stringify(name) ?? 'nothing').slice(0, 120)}`,
    GIVE_BASE,
  );
}

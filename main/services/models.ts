/** Which folders a model argument means. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { BraidError, inputError } from '../errors.ts';
import type { ModelParts } from '../trainer/open-policy.ts';
import type { HostPaths } from './paths.ts';

/** Whether this is the name of a model that ships with the program. */
export function isBundled(model: string, paths: Pick<HostPaths, 'resources'>): boolean {
  return /^[\w.-]+$/.test(model) && existsSync(join(paths.resources, 'models', model, 'config.json'));
}

/** What a configuration calls the model in a folder: a bundled one by its name, which holds on any machine. */
export function modelArgument(folder: string, paths: Pick<HostPaths, 'resources'>): string {
  const name = basename(folder);
  return isBundled(name, paths) && folder === join(paths.resources, 'models', name) ? name : folder;
}

/** The folder of a model: a path, or the name of a bundled model ("tiny"). */
export function resolveModel(model: string, paths: Pick<HostPaths, 'resources'>): string {
  const folder = isBundled(model, paths) ? join(paths.resources, 'models', model) : resolve(model);
  if (existsSync(join(folder, 'config.json')) || existsSync(join(folder, 'adapter_config.json'))) return folder;
  throw inputError(
    'MODEL_MISSING',
    `${folder}: expected a model folder with a config.json (or a checkpoint with an adapter), there is none`,
    'Give the path of a Hugging Face model folder or of a checkpoint, or "tiny" for the bundled model.',
  );
}

/**
 * The parts of a model, a full checkpoint or a LoRA checkpoint. An adapter's base is `base` where given, else what
 * its own adapter_config.json names: a path, a path from the checkpoint, or a bundled model.
 */
export function resolveModelParts(model: string, paths: Pick<HostPaths, 'resources'>, base?: string): ModelParts {
  const folder = resolveModel(model, paths);
  if (!existsSync(join(folder, 'adapter_config.json'))) {
    if (base === undefined) return { base: folder, adapter: null, tokenizer: folder };
    throw inputError(
      'BAD_OPTION',
      `Expected --base only with a LoRA checkpoint, but ${folder} is a whole model`,
      'Leave --base out.',
    );
  }
  const under = base === undefined ? baseOf(folder, paths) : resolveModel(base, paths);
  if (!existsSync(join(under, 'config.json'))) {
    throw inputError(
      'BASE_MISSING',
      `${under}: expected a whole model under the adapter, got another adapter`,
      GIVE_BASE,
    );
  }
  const own = existsSync(join(folder, 'tokenizer.json'));
  return { base: under, adapter: folder, tokenizer: own ? folder : under };
}

/**
 * The model that a stage from `checkpoint` trains: a whole checkpoint itself, the base under an adapter. `otherwise`
 * where the adapter names no model that is here: PEFT's often name one of the Hugging Face hub.
 */
export function resolveStartingModel(
  checkpoint: string,
  otherwise: string,
  paths: Pick<HostPaths, 'resources'>,
): string {
  const folder = resolveModel(checkpoint, paths);
  if (!existsSync(join(folder, 'adapter_config.json'))) return folder;
  try {
    return resolveModelParts(folder, paths).base;
  } catch (error) {
    if (error instanceof BraidError && error.code === 'BASE_MISSING') return resolveModel(otherwise, paths);
    throw error;
  }
}

const GIVE_BASE =
  'Put the model that the adapter was trained on back in its place, or on the command line give its folder with --base DIR.';

function baseOf(adapter: string, paths: Pick<HostPaths, 'resources'>): string {
  const file = join(adapter, 'adapter_config.json');
  const name = baseName(file);
  const places = [resolve(name), resolve(adapter, name), join(paths.resources, 'models', name)];
  const found = places.find((place) => existsSync(join(place, 'config.json')));
  if (found !== undefined) return found;
  throw inputError('BASE_MISSING', `${file}: expected the base model at "${name}", there is none`, GIVE_BASE);
}

function baseName(file: string): string {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw inputError('BAD_ADAPTER_CONFIG', `${file}: expected JSON (${(cause as Error).message})`, GIVE_BASE);
  }
  const name = (value as { readonly base_model_name_or_path?: unknown } | null)?.base_model_name_or_path;
  if (typeof name === 'string' && name !== '') return name;
  throw inputError(
    'BASE_MISSING',
    `${file}: expected "base_model_name_or_path" to name the base model, got ${JSON.stringify(name) ?? 'nothing'}`,
    GIVE_BASE,
  );
}

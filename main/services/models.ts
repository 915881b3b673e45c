import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inputError } from '../errors.ts';
import type { HostPaths } from './paths.ts';

/** The folder of a model: a path, or the name of a bundled model ("tiny"). */
export function resolveModel(model: string, paths: Pick<HostPaths, 'resources'>): string {
  const bundled = join(paths.resources, 'models', model);
  const folder = /^[\w.-]+$/.test(model) && existsSync(join(bundled, 'config.json')) ? bundled : resolve(model);
  if (existsSync(join(folder, 'config.json')) || existsSync(join(folder, 'adapter_config.json'))) return folder;
  throw inputError(
    'MODEL_MISSING',
    `${folder}: expected a model folder with a config.json (or a checkpoint with an adapter), there is none`,
    'Give the path of a Hugging Face model folder or of a checkpoint, or "tiny" for the bundled model.',
  );
}

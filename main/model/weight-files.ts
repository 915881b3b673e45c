/** Which files of a model folder hold its weights: one safetensors file, or shards named by their index. */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../errors.ts';
import { readJson } from './config.ts';

const WHOLE = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';

const indexSchema = z.looseObject({ weight_map: z.record(z.string(), z.string()) });

/** The name of the file that holds a tensor. */
export function weightMap(folder: string): (name: string) => string {
  if (existsSync(join(folder, WHOLE))) return () => WHOLE;
  const map = shardMap(folder);
  return (name) => {
    const file = map[name];
    if (file !== undefined) return file;
    throw inputError('TENSOR_MISSING', `${join(folder, INDEX)}: expected an entry for "${name}", there is none`);
  };
}

/** The names of all weight files, each once. */
export function weightFiles(folder: string): readonly string[] {
  return existsSync(join(folder, WHOLE)) ? [WHOLE] : [...new Set(Object.values(shardMap(folder)))];
}

function shardMap(folder: string): Readonly<Record<string, string>> {
  const index = join(folder, INDEX);
  if (!existsSync(index)) throw noWeights(folder);
  const parsed = indexSchema.safeParse(readJson(index));
  if (!parsed.success) throw inputError('BAD_MODEL_INDEX', `${index}: expected {"weight_map": {tensor: file}}`);
  for (const [name, file] of Object.entries(parsed.data.weight_map)) {
    // A shard must be in the same folder as its index.
    if (file !== basename(file))
      throw inputError('BAD_MODEL_INDEX', `${index}: expected "${name}" in a file of this folder, got "${file}"`);
  }
  return parsed.data.weight_map;
}

function noWeights(folder: string) {
  const pickle = readdirSync(folder).find((name) => /^pytorch_model.*\.bin$/.test(name));
  return inputError(
    'MODEL_FILE_MISSING',
    `${folder}: expected ${WHOLE} or ${INDEX}, got ${pickle === undefined ? 'neither' : `only ${pickle}, a pickle`}`,
    pickle === undefined ? 'Copy or download the whole model folder.' : 'Save the model again as safetensors.',
  );
}

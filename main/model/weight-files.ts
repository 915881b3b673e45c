/** Which files of a model folder hold its weights: one safetensors file, or shards named by their index. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../errors.ts';
import { nameFault } from '../io/foreign-name.ts';
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
    if (nameFault(file) !== null)
      throw inputError('BAD_MODEL_INDEX', `${index}: expected "${name}" in a file of this folder, got "${file}"`);
  }
  return parsed.data.weight_map;
}

function noWeights(folder: string) {
  const other = otherWeights(readdirSync(folder));
  return inputError(
    'MODEL_FILE_MISSING',
    `${folder}: expected ${WHOLE} or ${INDEX}, got ${other === null ? 'neither' : `only ${other.what}`}`,
    other?.remedy ?? 'Copy or download the whole model folder.',
  );
}

/** Files of weights that can't be read, and what to do about them. */
const OTHERS = [
  {
    name: /\.gguf$/i,
    kind: 'in GGUF, a format for inference',
    remedy:
      "Use the Hugging Face folder of the original model, which its page names: GGUF files can't be trained. What Braid trained can be exported as GGUF.",
  },
  {
    name: /\.(bin|pt|pth|ckpt)$/i,
    kind: 'a pickle',
    remedy:
      'Save the model again as safetensors (save_pretrained of a current transformers), or use a newer revision of it.',
  },
  {
    name: /^consolidated.*\.safetensors$/i,
    kind: "in its maker's own layout",
    remedy: 'Use the Hugging Face version of the model, with model.safetensors.',
  },
  {
    name: /\.(npz|onnx|msgpack|h5)$/i,
    kind: 'of another framework',
    remedy: 'Use the safetensors version of the model.',
  },
] as const;

/** What there is in place of safetensors, and what to do about it; null: nothing known. */
export function otherWeights(names: readonly string[]): { readonly what: string; readonly remedy: string } | null {
  for (const { name: pattern, kind, remedy } of OTHERS) {
    const found = names.find((name) => pattern.test(name) && !name.startsWith('training_args'));
    if (found !== undefined) return { what: `${found}, ${kind}`, remedy };
  }
  return null;
}

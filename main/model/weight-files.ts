/** Which files of a model folder hold its weights: one safetensors file, or shards named by their index. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../errors.ts';
import { nameFault } from '../io/foreign-name.ts';
import { isJsonObject } from '../io/json.ts';
import { readJson } from './config.ts';
import { shown } from './shown.ts';

const WHOLE = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';

/** Far beyond any model's index. */
const LARGEST_INDEX = 2 ** 24;
const MOST_SHARDS = 1000;

/** The name of the file that holds a tensor. */
export function weightMap(folder: string): (name: string) => string {
  if (existsSync(join(folder, WHOLE))) return () => WHOLE;
  const map = shardMap(folder);
  return (name) => {
    const file = Object.hasOwn(map, name) ? map[name] : undefined;
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
  const map = (readJson(index, LARGEST_INDEX) as { readonly weight_map?: unknown } | null)?.weight_map;
  if (!isJsonObject(map) || !Object.values(map).every((file) => typeof file === 'string'))
    throw inputError('BAD_MODEL_INDEX', `${index}: expected {"weight_map": {tensor: file}}`);
  const files = new Set(Object.values(map as Readonly<Record<string, string>>));
  // A shard must be in the same folder as its index.
  const outside = [...files].find((file) => nameFault(file) !== null);
  if (outside !== undefined)
    throw inputError(
      'BAD_MODEL_INDEX',
      `${index}: expected all tensors in files of this folder, got ${shown(outside)}`,
    );
  if (files.size > MOST_SHARDS)
    throw inputError('BAD_MODEL_INDEX', `${index}: expected at most ${MOST_SHARDS} files, got ${files.size}`);
  return map as Readonly<Record<string, string>>;
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

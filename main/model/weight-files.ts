/** Which files of a model folder hold its weights: one safetensors file, or shards named by their index. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../errors.ts';
import { nameFault } from '../io/foreign-name.ts';
import { isJsonObject } from '../io/json.ts';
import { readJson } from './read-json.ts';
import { shown } from './shown.ts';

export const WHOLE = 'model.safetensors';
const INDEX = 'model.safetensors.index.json';

/** Far beyond the index of any model that loads here: a thousand layers take half of it. */
const LARGEST_INDEX = 2 ** 21;
const MOST_SHARDS = 1000;

/** The names of all weight files, each once. */
export function weightFiles(folder: string): readonly string[] {
  return [...new Set(shardMap(folder)?.values() ?? [WHOLE])];
}

/** The file of each tensor; null: one file has them all. */
export function shardMap(folder: string): ReadonlyMap<string, string> | null {
  if (existsSync(join(folder, WHOLE))) return null;
  const index = join(folder, INDEX);
  if (!existsSync(index)) throw noWeights(folder);
  const map = (readJson(index, LARGEST_INDEX) as { readonly weight_map?: unknown } | null)?.weight_map;
  if (!isJsonObject(map) || !Object.values(map).every((file) => typeof file === 'string'))
    throw inputError('BAD_MODEL_INDEX', `${index}: expected {"weight_map": {tensor: file}}`);
  const byName = new Map(Object.entries(map as Readonly<Record<string, string>>));
  const files = new Set(byName.values());
  // A shard must be in the same folder as its index.
  const outside = [...files].find((file) => nameFault(file) !== null);
  if (outside !== undefined)
    throw inputError(
      'BAD_MODEL_INDEX',
      `${index}: expected all tensors in files of this folder, got ${shown(outside)}`,
    );
  if (files.size > MOST_SHARDS)
    throw inputError('BAD_MODEL_INDEX', `${index}: expected at most ${MOST_SHARDS} files, got ${files.size}`);
  return byName;
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
    name: /^(?:model_world_size_\d+_rank_\d+\.pt|zero_pp_rank_.*\.pt|zero_to_fp32\.py|global_step_?\d+|pytorch_model_fsdp_\d+|.*\.distcp)$/,
    kind: 'a part of what several processes saved (FSDP, DeepSpeed)',
    remedy:
      'Merge the parts into a Hugging Face folder where they were saved: verl with `python -m verl.model_merger merge`, DeepSpeed with its zero_to_fp32.py, FSDP with `accelerate merge-weights`.',
  },
  {
    name: /\.gguf$/i,
    kind: 'in GGUF, a format for inference',
    remedy:
      'Convert the file to a model that trains: braid models add FILE.gguf, or Models → Add from this computer in the app.',
  },
  {
    name: /^consolidated.*\.safetensors$/i,
    kind: "in its maker's own layout",
    remedy: 'Use the Hugging Face version of the model, with model.safetensors.',
  },
  {
    name: /^(?!adapter_|training_args).*\.safetensors$/i,
    kind: "under a name that transformers doesn't look for",
    remedy: `Name a single file ${WHOLE}; shards need their ${INDEX}.`,
  },
  // torchtune's folders have its own beside safetensors.
  {
    name: /\.(bin|pt|pth|ckpt)$/i,
    kind: 'a pickle',
    remedy:
      'Save the model again as safetensors (save_pretrained of a current transformers), or use a newer revision of it.',
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

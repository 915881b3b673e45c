/** Adapters as PEFT writes and reads them: adapter_model.safetensors and adapter_config.json. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { inputError } from '../errors.ts';
import { byName, type EncodedFiles, jsonText } from './export.ts';
import type { Linear, LoraWeights } from './linear.ts';
import { type Adapter, adapterParameters, type LoraConfig, loraName, loraRank, loraScaling } from './lora.ts';
import { type Model, modelLinears } from './model.ts';
import { parseAdapterConfig, targetedModules, targetNames, wayOn } from './peft-config.ts';
import { readSettings } from './read-json.ts';
import { encodeSafetensors, openSafetensors, type SafetensorsFile } from './safetensors.ts';

export const ADAPTER_WEIGHTS = 'adapter_model.safetensors';
export const ADAPTER_CONFIG = 'adapter_config.json';

/** Whether a folder holds an adapter rather than a whole model. */
export function hasAdapter(folder: string): boolean {
  return existsSync(join(folder, ADAPTER_CONFIG));
}

/** The two files of an adapter; `baseModelName` is where PEFT will look for its base model. */
export function encodeAdapter(
  adapter: Adapter,
  baseModelName: string,
): EncodedFiles<typeof ADAPTER_WEIGHTS | typeof ADAPTER_CONFIG> {
  const tensors = adapterParameters(adapter)
    .map(({ name, value }) => ({ name, shape: value.shape, data: value.dataSync<'float32'>() }))
    .sort(byName);
  return {
    [ADAPTER_WEIGHTS]: encodeSafetensors(tensors),
    [ADAPTER_CONFIG]: encodeAdapterConfig(adapter.config, baseModelName),
  };
}

/** adapter_config.json as PEFT writes it. */
export function encodeAdapterConfig(config: LoraConfig, baseModelName: string): string {
  return jsonText({
    alpha_pattern: config.alphaPattern ?? {},
    auto_mapping: null,
    base_model_name_or_path: baseModelName,
    bias: 'none',
    fan_in_fan_out: false,
    inference_mode: true,
    init_lora_weights: true,
    layer_replication: null,
    layers_pattern: null,
    layers_to_transform: null,
    loftq_config: {},
    lora_alpha: config.alpha,
    lora_dropout: 0,
    megatron_config: null,
    megatron_core: 'megatron.core',
    modules_to_save: null,
    peft_type: 'LORA',
    r: config.r,
    rank_pattern: config.rankPattern ?? {},
    revision: null,
    target_modules: [...config.targetModules].sort(),
    task_type: 'CAUSAL_LM',
    use_dora: false,
    use_rslora: config.useRslora,
  });
}

/** Loads an adapter folder for a model, checking that every tensor fits it. */
export function loadAdapter(folder: string, model: Model): Adapter {
  const configFile = join(folder, ADAPTER_CONFIG);
  const config = parseAdapterConfig(readSettings(configFile), configFile);
  const linears = modelLinears(model);
  const names = linears.map(({ name }) => name);
  const adapted = targetedModules(config, names, configFile);
  const path = weightsFile(folder);
  const file = openSafetensors(path);
  try {
    checkForeign(file, adapted, path);
    const chosen = linears.filter(({ name }) => adapted.has(name));
    const lora = { ...config.strength, targetModules: targetNames(adapted, names) };
    return { config: lora, modules: readModules(file, chosen, lora, path) };
  } finally {
    file.close();
  }
}

function weightsFile(folder: string): string {
  const file = join(folder, ADAPTER_WEIGHTS);
  if (existsSync(file)) return file;
  const pickled = ['adapter_model.bin', 'adapter_model.pt'].find((name) => existsSync(join(folder, name)));
  throw inputError(
    'MODEL_FILE_MISSING',
    `${file}: expected the adapter's weights, ${pickled === undefined ? 'but adapter_model.safetensors is missing' : `there is only ${pickled}, a pickle`}`,
    pickled ? 'Save the adapter again with a PEFT version that writes safetensors.' : 'Copy the whole adapter folder.',
  );
}

/** Rejects tensors that the adapter's configuration doesn't name: leaving them out would give another model. */
export function checkForeign(file: SafetensorsFile, adapted: ReadonlySet<string>, path: string): void {
  const known = new Set([...adapted].flatMap((name) => [loraName(name, 'A'), loraName(name, 'B')]));
  const [foreign, ...more] = [...file.entries.keys()].filter((name) => !known.has(name));
  if (foreign === undefined) return;
  throw inputError(
    'ADAPTER_MISMATCH',
    `${path}: expected tensors of the adapted layers only, got "${foreign}"${more.length > 0 ? ` and ${more.length} more` : ''}`,
    wayOn(foreign, 'Use an adapter that was trained on this base model, with LoRA on linear layers only.'),
  );
}

function readModules(
  file: SafetensorsFile,
  linears: readonly Linear[],
  config: LoraConfig,
  path: string,
): ReadonlyMap<string, LoraWeights> {
  const made: tf.Tensor[] = [];
  const read = (name: string, shape: [number, number]): LoraWeights['a'] => {
    checkTensor(file, name, shape, path);
    const value = tf.tensor2d(file.read(name), shape);
    made.push(value);
    return { name, value };
  };
  try {
    return new Map(
      linears.map(({ name, weight }) => {
        const [out, width] = weight.value.shape;
        const r = loraRank(config, name);
        const [a, b] = [read(loraName(name, 'A'), [r, width]), read(loraName(name, 'B'), [out, r])];
        return [name, { a, b, scaling: loraScaling(config, name) }];
      }),
    );
  } catch (error) {
    tf.dispose(made);
    throw error;
  }
}

function checkTensor(file: SafetensorsFile, name: string, shape: readonly number[], path: string): void {
  const entry = file.entries.get(name);
  if (entry === undefined)
    throw inputError(
      'TENSOR_MISSING',
      `${path}: expected a tensor "${name}", the file has none`,
      'Use the base model that the adapter was trained on; a bundled one changes with the version of Braid.',
    );
  if (entry.shape.join() === shape.join()) return;
  throw inputError(
    'ADAPTER_MISMATCH',
    `${path}: expected "${name}" of shape [${shape.join(', ')}] by "r" and the base model, got [${entry.shape.join(', ')}]`,
    'Use the base model that the adapter was trained on.',
  );
}

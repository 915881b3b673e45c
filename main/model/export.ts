/** A model as the files of a Hugging Face folder. Nothing is written here. */
import type * as tf from '@tensorflow/tfjs-core';
import { pulse } from '../pulse.ts';
import type { ModelConfig } from './config.ts';
import { type Model, modelParameters } from './model.ts';
import { ARCHITECTURES, type ModelType } from './model-types.ts';
import { encodeRopeScaling } from './rope-scaling.ts';
import { type FloatType, safetensorsPieces } from './safetensors.ts';
import { textPartOf } from './text-part.ts';
import { storedName } from './weight-names.ts';

/** Contents of a folder's files, by name. */
export type EncodedFiles<Name extends string> = Readonly<Record<Name, Uint8Array | string>>;

export interface ModelFileOptions {
  /** How the weights are stored; float32 loses nothing. */
  readonly type?: 'F32' | 'F16';
  /** The config.json that the model came from: fields that Braid doesn't use (bos_token_id …) are copied. */
  readonly baseConfig?: Readonly<Record<string, unknown>>;
}

const DTYPES = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' } as const;

/** `model.safetensors` and `config.json` of a model. A tied head is the embedding and isn't written twice. */
export function encodeModel(
  model: Model,
  options: ModelFileOptions = {},
): EncodedFiles<'model.safetensors' | 'config.json'> {
  const files = modelFiles(model, options);
  return { ...files, 'model.safetensors': Buffer.concat([...files['model.safetensors']]) };
}

/** The same with the weights in pieces, each read from the device when its turn comes. */
export function modelFiles(
  model: Model,
  options: ModelFileOptions = {},
): { readonly 'model.safetensors': Iterable<Uint8Array>; readonly 'config.json': string } {
  const type = options.type ?? 'F32';
  const tensors = modelParameters(model)
    .map(({ name, value }) => ({ name: storedName(name), shape: value.shape, pieces: () => tensorPieces(value) }))
    .sort(byName);
  return {
    'model.safetensors': safetensorsPieces(tensors, { format: 'pt' }, type),
    'config.json': encodeModelConfig(model.config, type, options.baseConfig),
  };
}

/** Numbers of a piece: 16 MiB of float32. */
const PIECE = 2 ** 22;

/** A tensor's values, some at a time. It is read at once: on native, slices of some tensors take a second each. */
export function* tensorPieces(tensor: tf.Tensor): Generator<Float32Array> {
  pulse();
  const values = tensor.dataSync<'float32'>();
  // Copies: on wasm, the values are a view of memory that the next tensor may overwrite.
  for (let first = 0; first < values.length; first += PIECE) yield values.slice(first, first + PIECE);
}

/** Order of names as transformers and PEFT write them. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/**
 * A model's shape as config.json: that of the text part alone, where a base reads images too. Of an architecture with
 * settings of its own, `base` has them all. For the others RoPE
 * is written with the older keys, which every version of transformers reads.
 */
export function encodeModelConfig(
  config: ModelConfig,
  type: FloatType = 'F32',
  base: Readonly<Record<string, unknown>> = {},
): string {
  const text = textPartOf(base) ?? base;
  const { torch_dtype: _dtype, quantization_config: _quantised, quantization: _mlx, ...kept } = text;
  const tied = { tie_word_embeddings: config.tieWordEmbeddings };
  const own = {
    ...tokenSettings(config),
    ...tied,
    architectures: [ARCHITECTURES[config.modelType]],
    dtype: DTYPES[type],
  };
  if (!BY_ITSELF.includes(config.modelType)) {
    if (text.model_type !== config.modelType) throw new Error(`Expected the config.json of a ${config.modelType}`);
    return jsonText({ ...kept, ...own });
  }
  // The newer key would contradict the ones written here.
  const { rope_parameters: _rope, ...others } = kept;
  return jsonText({ ...others, ...shapeSettings(config), ...own });
}

/** Architectures that a ModelConfig describes without the file that it came from. */
const BY_ITSELF: readonly ModelType[] = ['llama', 'qwen2', 'qwen3'];

function tokenSettings(config: ModelConfig): Record<string, unknown> {
  const [firstEnd, ...otherEnds] = config.eosTokenIds;
  return {
    eos_token_id: otherEnds.length === 0 ? (firstEnd ?? null) : config.eosTokenIds,
    pad_token_id: config.padTokenId,
  };
}

function shapeSettings(config: ModelConfig): Record<string, unknown> {
  return {
    model_type: config.modelType,
    vocab_size: config.vocabSize,
    hidden_size: config.hiddenSize,
    intermediate_size: config.intermediateSize,
    num_hidden_layers: config.numLayers,
    num_attention_heads: config.numHeads,
    num_key_value_heads: config.numKvHeads,
    head_dim: config.headDim,
    hidden_act: 'silu',
    rms_norm_eps: config.rmsNormEps,
    rope_theta: config.ropeTheta,
    rope_scaling: config.ropeScaling === null ? null : encodeRopeScaling(config.ropeScaling),
    max_position_embeddings: config.maxPositionEmbeddings,
    // Qwen2's biases are part of its architecture, not a setting.
    ...(config.modelType === 'qwen2' ? {} : { attention_bias: config.attentionBias }),
    ...(config.modelType === 'llama' && { mlp_bias: config.mlpBias }),
  };
}

/** JSON as Hugging Face writes it: sorted keys, two spaces. */
export function jsonText(value: Readonly<Record<string, unknown>>): string {
  const sorted = Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify(sorted, null, 2)}\n`;
}

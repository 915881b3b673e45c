/** A model as the files of a Hugging Face folder. Nothing is written here. */
import type { ModelConfig } from './config.ts';
import { type Model, modelParameters } from './model.ts';
import { encodeSafetensors } from './safetensors.ts';

/** Contents of a folder's files, by name. */
export type EncodedFiles<Name extends string> = Readonly<Record<Name, Uint8Array | string>>;

export interface ModelFileOptions {
  /** How the weights are stored; float32 loses nothing. */
  readonly type?: 'F32' | 'F16';
  /** The config.json that the model came from: what Braid doesn't use (bos_token_id …) is taken over. */
  readonly baseConfig?: Readonly<Record<string, unknown>>;
}

const ARCHITECTURES = { llama: 'LlamaForCausalLM', qwen2: 'Qwen2ForCausalLM', qwen3: 'Qwen3ForCausalLM' } as const;

/** `model.safetensors` and `config.json` of a model. A tied head is the embedding and isn't written twice. */
export function encodeModel(
  model: Model,
  options: ModelFileOptions = {},
): EncodedFiles<'model.safetensors' | 'config.json'> {
  const type = options.type ?? 'F32';
  const tensors = modelParameters(model)
    .map(({ name, value }) => ({ name, shape: value.shape, data: value.dataSync<'float32'>() }))
    .sort(byName);
  return {
    'model.safetensors': encodeSafetensors(tensors, { format: 'pt' }, type),
    'config.json': encodeModelConfig(model.config, type, options.baseConfig),
  };
}

/** Order of names as transformers and PEFT write them. */
export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** A model's shape as config.json. RoPE is told by the older keys, which every version of transformers reads. */
export function encodeModelConfig(
  config: ModelConfig,
  type: 'F32' | 'F16' = 'F32',
  base: Readonly<Record<string, unknown>> = {},
): string {
  // The newer spellings would contradict what is written here.
  const { rope_parameters: _rope, torch_dtype: _dtype, quantization_config: _quantised, ...kept } = base;
  return jsonText({ ...kept, ...ownSettings(config), dtype: type === 'F32' ? 'float32' : 'float16' });
}

function ownSettings(config: ModelConfig): Record<string, unknown> {
  const [firstEnd, ...otherEnds] = config.eosTokenIds;
  return {
    architectures: [ARCHITECTURES[config.modelType]],
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
    rope_scaling: config.ropeScaling === null ? null : scalingSettings(config.ropeScaling),
    max_position_embeddings: config.maxPositionEmbeddings,
    tie_word_embeddings: config.tieWordEmbeddings,
    // Qwen2's biases are part of its architecture, not a setting.
    ...(config.modelType === 'qwen2' ? {} : { attention_bias: config.attentionBias }),
    eos_token_id: otherEnds.length === 0 ? (firstEnd ?? null) : config.eosTokenIds,
    pad_token_id: config.padTokenId,
  };
}

function scalingSettings(scaling: NonNullable<ModelConfig['ropeScaling']>): Record<string, unknown> {
  return {
    rope_type: 'llama3',
    factor: scaling.factor,
    low_freq_factor: scaling.lowFreqFactor,
    high_freq_factor: scaling.highFreqFactor,
    original_max_position_embeddings: scaling.originalMaxPositionEmbeddings,
  };
}

/** JSON as Hugging Face writes it: sorted keys, two spaces. */
export function jsonText(value: Readonly<Record<string, unknown>>): string {
  const sorted = Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${JSON.stringify(sorted, null, 2)}\n`;
}

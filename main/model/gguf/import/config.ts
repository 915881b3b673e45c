/** The config.json of a GGUF file's model: what `ggufMetadata` writes, in reverse. */
import { inputError } from '../../../errors.ts';
import { type ModelConfig, parseModelConfig } from '../../config.ts';
import { shown } from '../../shown.ts';
import { ARCHITECTURES, FAMILIES, type ModelType } from '../../traits.ts';
import type { GgufFile } from './open.ts';
import { llama3Scaling } from './rope-factors.ts';

/** llama.cpp's names; its "llama" is Mistral, too, whose tensors and arithmetic are the same without a window. */
const MODEL_TYPES: Readonly<Record<string, ModelType>> = {
  llama: 'llama',
  qwen2: 'qwen2',
  qwen3: 'qwen3',
  smollm3: 'smollm3',
  phi3: 'phi3',
  gemma3: 'gemma3_text',
  olmo2: 'olmo2',
  granite: 'granite',
};

type Source = Pick<GgufFile, 'path' | 'metadata' | 'tensors'>;
type Settings = Readonly<Record<string, unknown>>;

export interface GgufConfig {
  /** As config.json has it, but for the type of the weights. */
  readonly settings: Settings;
  readonly config: ModelConfig;
}

/** Throws for what Braid can't compute, by its name. `read`: values of a small tensor. */
export function ggufConfig(file: GgufFile): GgufConfig {
  const architecture = String(file.metadata.get('general.architecture') ?? 'none');
  const type = Object.hasOwn(MODEL_TYPES, architecture) ? MODEL_TYPES[architecture] : undefined;
  if (type === undefined)
    throw inputError(
      'FOREIGN_GGUF',
      `${file.path}: its architecture, ${shown(architecture)}, isn't supported`,
      `Choose another model: ${FAMILIES} are.`,
    );
  const read = reader(file, architecture);
  refuseStrange(read, file);
  const settings = { ...shapeOf(read, file, type), ...rotation(read, file, type), ...ownSettings(read, type) };
  return { settings, config: parseModelConfig(settings, file.path) };
}

interface Reader {
  /** A number that must be there. */
  number(key: string): number;
  optional(key: string): number | null;
  text(key: string): string | null;
  has(tensor: string): boolean;
}

function reader({ path, metadata, tensors }: Source, architecture: string): Reader {
  const optional = (key: string): number | null => {
    const value = metadata.get(`${architecture}.${key}`) ?? null;
    if (value === null || typeof value === 'number') return value === null ? null : shortest(value);
    throw inputError('BAD_GGUF', `${path}: expected "${architecture}.${key}" to be a number, got ${shown(value)}`);
  };
  const number = (key: string): number => {
    const value = optional(key);
    if (value !== null) return value;
    throw inputError('BAD_GGUF', `${path}: it doesn't say "${architecture}.${key}"`, 'Copy or download it again.');
  };
  const text = (key: string): string | null => {
    const value = metadata.get(`${architecture}.${key}`);
    return typeof value === 'string' ? value : null;
  };
  return { number, optional, text, has: (tensor) => tensors.has(tensor) };
}

/** The decimal number that somebody meant by a float32: 1e-5, not 9.999999747378752e-6. */
function shortest(value: number): number {
  if (Number.isInteger(value) || !Number.isFinite(value)) return value;
  for (let digits = 1; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === Math.fround(value)) return rounded;
  }
  return value;
}

function refuseStrange({ optional, text }: Reader, { path }: Source): void {
  const refused = (what: string) =>
    inputError('FOREIGN_GGUF', `${path}: ${what}, which Braid can't compute`, 'Choose another model.');
  if ((optional('expert_count') ?? 0) > 0) throw refused('it is a mixture of experts');
  const scaling = text('rope.scaling.type') ?? 'none';
  if (scaling !== 'none' && scaling !== 'longrope' && optional('rope.scaling.factor') !== 1)
    throw refused(`RoPE is scaled by ${shown(scaling)}`);
  if ((optional('rope.scale_linear') ?? 1) !== 1) throw refused('RoPE is scaled linearly');
  for (const cap of ['attn_logit_softcapping', 'final_logit_softcapping'])
    if ((optional(cap) ?? 0) !== 0) throw refused(`logits are capped ("${cap}")`);
}

function shapeOf({ number, optional, has }: Reader, file: Source, type: ModelType): Settings {
  const [heads, width] = [number('attention.head_count'), number('embedding_length')];
  const headDim = optional('attention.key_length') ?? width / heads;
  if ((optional('attention.value_length') ?? headDim) !== headDim)
    throw inputError('FOREIGN_GGUF', `${file.path}: its keys and values differ in width, which Braid can't compute`);
  const window = optional('attention.sliding_window');
  const isMistral = type === 'llama' && window !== null && window > 0;
  const modelType = isMistral ? 'mistral' : type;
  return {
    model_type: modelType,
    architectures: [ARCHITECTURES[modelType]],
    vocab_size: file.tensors.get('token_embd.weight')?.shape[0] ?? number('vocab_size'),
    hidden_size: width,
    intermediate_size: number('feed_forward_length'),
    num_hidden_layers: number('block_count'),
    num_attention_heads: heads,
    num_key_value_heads: optional('attention.head_count_kv') ?? heads,
    head_dim: headDim,
    rms_norm_eps: number('attention.layer_norm_rms_epsilon'),
    max_position_embeddings: number('context_length'),
    tie_word_embeddings: !has('output.weight'),
    ...(type === 'gemma3_text' ? { hidden_activation: 'gelu_pytorch_tanh' } : { hidden_act: 'silu' }),
    ...(type !== 'qwen2' && { attention_bias: has('blk.0.attn_q.bias') || has('blk.0.attn_qkv.bias') }),
    ...((type === 'llama' || type === 'granite') && { mlp_bias: has('blk.0.ffn_up.bias') }),
    ...((isMistral || type === 'phi3' || type === 'gemma3_text') && { sliding_window: window || null }),
  };
}

function rotation({ number, optional, has }: Reader, file: GgufFile, type: ModelType): Settings {
  const theta = { rope_theta: optional('rope.freq_base') ?? 10000 };
  const factors = (name: string): number[] => [...file.read(name, 0, file.tensors.get(name)?.shape[0] ?? 0)];
  if (type === 'phi3') {
    const [long, short] = ['rope_factors_long.weight', 'rope_factors_short.weight'];
    const headDim = optional('attention.key_length') ?? number('embedding_length') / number('attention.head_count');
    const partial = (optional('rope.dimension_count') ?? headDim) / headDim;
    if (!has(short)) return { ...theta, partial_rotary_factor: partial };
    const attention = optional('rope.scaling.attn_factor');
    const scaling = {
      rope_type: 'longrope',
      short_factor: factors(short).map(shortest),
      ...(has(long) && { long_factor: factors(long).map(shortest) }),
      ...(attention !== null && { attention_factor: attention }),
    };
    const original = number('rope.scaling.original_context_length');
    return {
      ...theta,
      partial_rotary_factor: partial,
      rope_scaling: scaling,
      original_max_position_embeddings: original,
    };
  }
  const frequencies = 'rope_freqs.weight';
  if (!has(frequencies)) return theta;
  const scaling = llama3Scaling(factors(frequencies), theta.rope_theta);
  if (scaling !== null) return { ...theta, rope_scaling: scaling };
  throw inputError(
    'FOREIGN_GGUF',
    `${file.path}: "${frequencies}" scales RoPE in another way than Llama 3, which Braid can't compute`,
    'Choose another model.',
  );
}

/** Settings that one architecture has. */
function ownSettings({ number, optional }: Reader, type: ModelType): Settings {
  if (type === 'qwen2' || type === 'qwen3' || type === 'smollm3') return { use_sliding_window: false };
  if (type === 'granite')
    return {
      attention_multiplier: number('attention.scale'),
      embedding_multiplier: number('embedding_scale'),
      residual_multiplier: number('residual_scale'),
      logits_scaling: number('logit_scale'),
    };
  if (type !== 'gemma3_text') return {};
  // llama.cpp scales the attention of the model of 62 layers (27B) by another width than a head's.
  const large = number('block_count') === 62;
  const perHead = number('embedding_length') / number('attention.head_count');
  return {
    query_pre_attn_scalar: large ? perHead : (optional('attention.key_length') ?? perHead),
    sliding_window_pattern: 6,
    rope_local_base_freq: 10000,
  };
}

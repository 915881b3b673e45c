/** The config.json of a GGUF file's model: what `ggufMetadata` writes, in reverse. */
import { inputError } from '../../../errors.ts';
import { type ModelConfig, parseModelConfig } from '../../config.ts';
import { ARCHITECTURES, FAMILIES, type ModelType } from '../../model-types.ts';
import { shown } from '../../shown.ts';
import type { GgufName } from '../architectures.ts';
import { impliedAmplitude } from '../hyperparameters.ts';
import type { GgufFile } from './open.ts';
import { llama3Scaling } from './rope-factors.ts';

/**
 * llama.cpp's names; its "llama" is Mistral, too, whose tensors and arithmetic are the same without a window, its "olmo2" with a
 * window OLMo-3.
 */
const MODEL_TYPES: Readonly<Record<string, ModelType>> = {
  llama: 'llama',
  mistral3: 'ministral3',
  qwen2: 'qwen2',
  qwen3: 'qwen3',
  qwen35: 'qwen3_5_text',
  smollm3: 'smollm3',
  phi3: 'phi3',
  gemma3: 'gemma3_text',
  olmo2: 'olmo2',
  lfm2: 'lfm2',
  granite: 'granite',
  granitehybrid: 'granitemoehybrid',
} satisfies Readonly<Record<GgufName, ModelType>>;

/** What an architecture with a window is. */
const WITH_WINDOW: Readonly<Partial<Record<ModelType, ModelType>>> = { llama: 'mistral', olmo2: 'olmo3' };

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
  const read = reader(file, architecture);
  const type = typeOf(read, architecture);
  if (type === undefined)
    throw inputError(
      'FOREIGN_GGUF',
      `${file.path}: its architecture, ${shown(architecture)}, isn't supported`,
      `Choose another model: ${FAMILIES} are.`,
    );
  refuseStrange(read, file);
  const settings = {
    ...shapeOf(read, file, type),
    ...rotation(read, file, type),
    ...ownSettings(read, type),
  };
  return { settings, config: parseModelConfig(settings, file.path) };
}

/** A Granite without RoPE is Granite 4, whose converter calls it so where no layer is Mamba's. */
function typeOf({ flag }: Reader, architecture: string): ModelType | undefined {
  const type = Object.hasOwn(MODEL_TYPES, architecture) ? MODEL_TYPES[architecture] : undefined;
  return type === 'granite' && flag(ROPE_SWITCH) === false ? 'granitemoehybrid' : type;
}

/** Of Granite, which has RoPE where its file says nothing. */
const ROPE_SWITCH = 'rope.scaling.finetuned';

interface Reader {
  /** A number that must be there. */
  number(key: string): number;
  optional(key: string): number | null;
  text(key: string): string | null;
  flag(key: string): boolean | null;
  /** One for each layer; null: it isn't a list. */
  list(key: string): readonly unknown[] | null;
  has(tensor: string): boolean;
}

function reader({ path, metadata, tensors }: Source, architecture: string): Reader {
  const optional = (key: string): number | null => {
    const value = metadata.get(`${architecture}.${key}`) ?? null;
    if (value === null || typeof value === 'number') return value === null ? null : shortest(value);
    // One for each layer, as llama.cpp allows; those that differ aren't computed.
    const [first] = Array.isArray(value) ? value : [];
    if (typeof first === 'number' && Array.isArray(value) && value.every((each) => each === first)) return first;
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
  const flag = (key: string): boolean | null => {
    const value = metadata.get(`${architecture}.${key}`);
    return typeof value === 'boolean' ? value : null;
  };
  const list = (key: string): readonly unknown[] | null => {
    const value = metadata.get(`${architecture}.${key}`);
    return Array.isArray(value) ? value : null;
  };
  return { number, optional, text, flag, list, has: (tensor) => tensors.has(tensor) };
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

function refuseStrange({ optional, text, flag }: Reader, { path }: Source): void {
  const refused = (what: string) =>
    inputError('FOREIGN_GGUF', `${path}: ${what}, which Braid can't compute`, 'Choose another model.');
  if ((optional('expert_count') ?? 0) > 0) throw refused('it is a mixture of experts');
  const scaling = text('rope.scaling.type') ?? 'none';
  const known = ['none', 'longrope', 'linear', 'yarn'].includes(scaling);
  if (!known && optional('rope.scaling.factor') !== 1) throw refused(`RoPE is scaled by ${shown(scaling)}`);
  if ((optional('rope.scale_linear') ?? 1) !== 1) throw refused('RoPE is scaled linearly');
  if (flag('attention.causal') === false) throw refused("its attention isn't causal");
  for (const cap of ['attn_logit_softcapping', 'final_logit_softcapping'])
    if ((optional(cap) ?? 0) !== 0) throw refused(`logits are capped ("${cap}")`);
}

function shapeOf(read: Reader, file: Source, type: ModelType): Settings {
  const { number, optional, has } = read;
  const [heads, width] = [number('attention.head_count'), number('embedding_length')];
  const headDim = optional('attention.key_length') ?? width / heads;
  if ((optional('attention.value_length') ?? headDim) !== headDim)
    throw inputError('FOREIGN_GGUF', `${file.path}: its keys and values differ in width, which Braid can't compute`);
  const window = optional('attention.sliding_window') || null;
  const modelType = window === null ? type : (WITH_WINDOW[type] ?? type);
  const isMistral = modelType === 'mistral';
  return {
    model_type: modelType,
    architectures: [ARCHITECTURES[modelType]],
    vocab_size: file.tensors.get('token_embd.weight')?.shape[0] ?? number('vocab_size'),
    hidden_size: width,
    intermediate_size: number('feed_forward_length'),
    num_hidden_layers: number('block_count') - (optional('nextn_predict_layers') ?? 0),
    num_attention_heads: heads,
    num_key_value_heads: keyHeads(read) ?? heads,
    head_dim: headDim,
    [type === 'lfm2' ? 'norm_eps' : 'rms_norm_eps']: number('attention.layer_norm_rms_epsilon'),
    max_position_embeddings: number('context_length'),
    tie_word_embeddings: !has('output.weight'),
    ...(type === 'gemma3_text' ? { hidden_activation: 'gelu_pytorch_tanh' } : { hidden_act: 'silu' }),
    ...(type !== 'qwen2' && { attention_bias: has('blk.0.attn_q.bias') || has('blk.0.attn_qkv.bias') }),
    ...((type === 'llama' || type === 'granite') && { mlp_bias: has('blk.0.ffn_up.bias') }),
    ...((isMistral || ['phi3', 'gemma3_text', 'olmo2', 'ministral3'].includes(type)) && { sliding_window: window }),
  };
}

/** How RoPE's frequencies are scaled. */
function scaling({ number, optional, text }: Reader, type: ModelType): Settings {
  // A factor alone is a linear one.
  const alone = (optional('rope.scaling.factor') ?? 1) === 1 ? 'default' : 'linear';
  const rope_type = text('rope.scaling.type') ?? alone;
  const beta = optional('attention.temperature_scale');
  const original = beta === null && rope_type !== 'yarn' ? null : number('rope.scaling.original_context_length');
  const factor = rope_type === 'linear' || rope_type === 'yarn' ? number('rope.scaling.factor') : null;
  return {
    rope_type: factor === null ? 'default' : rope_type,
    ...(factor !== null && { factor }),
    ...(original !== null && { original_max_position_embeddings: original }),
    ...(beta !== null && { llama_4_scaling_beta: beta }),
    ...(rope_type === 'yarn' &&
      factor !== null && {
        beta_fast: optional('rope.scaling.yarn_beta_fast') ?? 32,
        beta_slow: optional('rope.scaling.yarn_beta_slow') ?? 1,
        attention_factor:
          amplitude(factor, type === 'ministral3' ? optional('rope.scaling.yarn_log_multiplier') : null) *
          (optional('rope.scaling.attn_factor') ?? 1),
      }),
  };
}

/** What cos and sin are multiplied by; Ministral's files may divide it by another. */
function amplitude(factor: number, divisor: number | null): number {
  return impliedAmplitude(factor) / (divisor ? impliedAmplitude(factor ** divisor) : 1);
}

function rotation(read: Reader, file: GgufFile, type: ModelType): Settings {
  const { number, optional, has } = read;
  const theta = { rope_theta: optional('rope.freq_base') ?? 10000 };
  const headDim = optional('attention.key_length') ?? number('embedding_length') / number('attention.head_count');
  const rotated = optional('rope.dimension_count') ?? headDim;
  const partial = { partial_rotary_factor: rotated / headDim };
  if (type === 'phi3') return { ...theta, ...partial, ...longRope(read, file) };
  if (rotated !== headDim && type !== 'qwen3_5_text')
    throw inputError(
      'FOREIGN_GGUF',
      `${file.path}: RoPE rotates ${rotated} of a head's ${headDim} dimensions, which Braid can't compute of this architecture`,
      'Choose another model.',
    );
  const frequencies = 'rope_freqs.weight';
  if (!has(frequencies)) {
    const scaled = scaling(read, type);
    // In the newer spelling transformers ignores what isn't said by kind of layer.
    if (type === 'gemma3_text') return { ...theta, rope_scaling: scaled.rope_type === 'default' ? null : scaled };
    const rope = { ...theta, ...scaled };
    // Layers with a window rotate with the same base, unscaled.
    const local = type === 'olmo2' &&
      optional('attention.sliding_window') && {
        sliding_attention: { ...theta, rope_type: 'default' },
        full_attention: rope,
      };
    return { ...theta, rope_parameters: local || { ...rope, ...(type === 'qwen3_5_text' && partial) } };
  }
  const llama3 = llama3Scaling(factorsOf(file, frequencies), theta.rope_theta);
  if (llama3 !== null) return { ...theta, rope_scaling: llama3 };
  throw inputError(
    'FOREIGN_GGUF',
    `${file.path}: "${frequencies}" scales RoPE in another way than Llama 3, which Braid can't compute`,
    'Choose another model.',
  );
}

function factorsOf(file: GgufFile, name: string): number[] {
  return [...file.read(name, 0, file.tensors.get(name)?.shape[0] ?? 0)];
}

/** Phi-3's divisors of frequencies. */
function longRope({ number, optional, has }: Reader, file: GgufFile): Settings {
  const [long, short] = ['rope_factors_long.weight', 'rope_factors_short.weight'];
  if (!has(short)) return {};
  const attention = optional('rope.scaling.attn_factor');
  return {
    rope_scaling: {
      rope_type: 'longrope',
      short_factor: factorsOf(file, short).map(shortest),
      ...(has(long) && { long_factor: factorsOf(file, long).map(shortest) }),
      ...(attention !== null && { attention_factor: attention }),
    },
    original_max_position_embeddings: number('rope.scaling.original_context_length'),
  };
}

/** Settings that one architecture has. */
function ownSettings(read: Reader, type: ModelType): Settings {
  const { number, optional, list } = read;
  if (type === 'qwen2' || type === 'qwen3' || type === 'smollm3') return { use_sliding_window: false };
  if (type === 'lfm2')
    return {
      block_auto_adjust_ff_dim: false,
      conv_L_cache: number('shortconv.l_cache'),
      layer_types: list('attention.head_count_kv')?.map((heads) => (heads === 0 ? 'conv' : 'full_attention')),
    };
  if (type === 'qwen3_5_text') return deltaRule(read);
  if (type === 'granite' || type === 'granitemoehybrid')
    return {
      attention_multiplier: number('attention.scale'),
      embedding_multiplier: number('embedding_scale'),
      residual_multiplier: number('residual_scale'),
      logits_scaling: number('logit_scale'),
      ...(type === 'granitemoehybrid' && granite4(read)),
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

/** Layers without keys have none. */
function keyHeads({ optional, list }: Reader): number | null {
  const heads = list('attention.head_count_kv');
  return heads === null ? optional('attention.head_count_kv') : Math.max(...heads.map(Number));
}

/** Granite 4; of its hybrids, layers of Mamba have no keys. */
function granite4({ number, list, flag, optional }: Reader): Settings {
  const heads = list('attention.head_count_kv') ?? Array(number('block_count')).fill(null);
  const dense = {
    num_local_experts: 0,
    shared_intermediate_size: number('feed_forward_length'),
    position_embedding_type: flag(ROPE_SWITCH) === false ? 'nope' : 'rope',
    layer_types: heads.map((count) => (count === 0 ? 'mamba' : 'attention')),
  };
  // transformers checks that the heads of layers which aren't there divide their width.
  if (optional('ssm.conv_kernel') === null && !heads.includes(0)) return { ...dense, mamba_n_heads: 1 };
  return {
    ...dense,
    mamba_d_conv: number('ssm.conv_kernel'),
    mamba_d_state: number('ssm.state_size'),
    mamba_n_groups: number('ssm.group_count'),
    mamba_n_heads: number('ssm.time_step_rank'),
    mamba_expand: number('ssm.inner_size') / number('embedding_length'),
  };
}

/** Qwen3.5's layers without attention. */
function deltaRule({ number, optional, list }: Reader): Settings {
  const values = number('ssm.time_step_rank');
  const every = optional('full_attention_interval') ?? 4;
  const layers = Array.from({ length: number('block_count') - (optional('nextn_predict_layers') ?? 0) });
  const recurs = list('attention.recurrent_layers');
  return {
    linear_conv_kernel_dim: number('ssm.conv_kernel'),
    linear_key_head_dim: number('ssm.state_size'),
    linear_num_key_heads: number('ssm.group_count'),
    linear_num_value_heads: values,
    linear_value_head_dim: number('ssm.inner_size') / values,
    layer_types: layers.map((_, i) =>
      (recurs === null ? (i + 1) % every !== 0 : recurs[i] === true || recurs[i] === 1)
        ? 'linear_attention'
        : 'full_attention',
    ),
  };
}

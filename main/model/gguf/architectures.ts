/** What llama.cpp calls the supported architectures and their tensors. */
import { inputError } from '../../errors.ts';
import type { ModelConfig } from '../config.ts';
import type { ModelType } from '../model-types.ts';
import { differenceOf } from './differences.ts';

export interface GgufArchitecture {
  readonly name: string;
  /** RoPE rotates neighbouring pairs of a head's dimensions; Hugging Face's weights pair the two halves. */
  readonly interleaved: boolean;
  /** llama.cpp's names of a layer's modules; two names: the module's rows are divided between them. */
  readonly layerNames: Readonly<Record<string, string | readonly string[]>>;
}

const QKV = { 'self_attn.q_proj': 'attn_q', 'self_attn.k_proj': 'attn_k', 'self_attn.v_proj': 'attn_v' } as const;
const ATTENTION = {
  ...QKV,
  'self_attn.o_proj': 'attn_output',
  'self_attn.q_norm': 'attn_q_norm',
  'self_attn.k_norm': 'attn_k_norm',
} as const;
const MLP = { 'mlp.gate_proj': 'ffn_gate', 'mlp.up_proj': 'ffn_up', 'mlp.down_proj': 'ffn_down' } as const;
const LAYER = { input_layernorm: 'attn_norm', ...ATTENTION, post_attention_layernorm: 'ffn_norm', ...MLP } as const;
const AFTER = { post_attention_layernorm: 'post_attention_norm', post_feedforward_layernorm: 'post_ffw_norm' } as const;
const JOINED = { 'self_attn.qkv_proj': 'attn_qkv', 'mlp.gate_up_proj': 'ffn_up' } as const;
const SHARED = {
  'shared_mlp.input_linear': ['ffn_gate', 'ffn_up'],
  'shared_mlp.output_linear': 'ffn_down',
} as const;
const LFM2 = {
  ...QKV,
  operator_norm: 'attn_norm',
  'self_attn.out_proj': 'attn_output',
  'self_attn.q_layernorm': 'attn_q_norm',
  'self_attn.k_layernorm': 'attn_k_norm',
  'conv.conv': 'shortconv.conv',
  'conv.in_proj': 'shortconv.in_proj',
  'conv.out_proj': 'shortconv.out_proj',
  ffn_norm: 'ffn_norm',
  'feed_forward.w1': 'ffn_gate',
  'feed_forward.w3': 'ffn_up',
  'feed_forward.w2': 'ffn_down',
} as const;
const QWEN35 = {
  ...LAYER,
  post_attention_layernorm: 'post_attention_norm',
  'linear_attn.in_proj_qkv': 'attn_qkv',
  'linear_attn.in_proj_z': 'attn_gate',
  'linear_attn.in_proj_b': 'ssm_beta',
  'linear_attn.in_proj_a': 'ssm_alpha',
  'linear_attn.conv1d': 'ssm_conv1d',
  'linear_attn.norm': 'ssm_norm',
  'linear_attn.out_proj': 'ssm_out',
  // Neither is called a weight in the model; in the file one is called a bias.
  'linear_attn.A_log': 'ssm_a',
  'linear_attn.dt_bias': 'ssm_dt.bias',
} as const;

const MAMBA = {
  'mamba.in_proj': 'ssm_in',
  'mamba.conv1d': 'ssm_conv1d',
  'mamba.norm': 'ssm_norm',
  'mamba.out_proj': 'ssm_out',
  // As those of the delta rule.
  'mamba.A_log': 'ssm_a',
  'mamba.D': 'ssm_d',
  'mamba.dt_bias': 'ssm_dt.bias',
} as const;

const ARCHITECTURES = {
  llama: { name: 'llama', interleaved: true, layerNames: LAYER },
  mistral: { name: 'llama', interleaved: true, layerNames: LAYER },
  ministral3: { name: 'mistral3', interleaved: true, layerNames: LAYER },
  qwen2: { name: 'qwen2', interleaved: false, layerNames: LAYER },
  qwen3: { name: 'qwen3', interleaved: false, layerNames: LAYER },
  qwen3_5_text: { name: 'qwen35', interleaved: false, layerNames: QWEN35 },
  smollm3: { name: 'smollm3', interleaved: true, layerNames: LAYER },
  phi3: { name: 'phi3', interleaved: false, layerNames: { ...LAYER, ...JOINED } },
  gemma3_text: {
    name: 'gemma3',
    interleaved: false,
    layerNames: { ...LAYER, ...AFTER, pre_feedforward_layernorm: 'ffn_norm' },
  },
  olmo2: { name: 'olmo2', interleaved: false, layerNames: { ...LAYER, ...AFTER } },
  olmo3: { name: 'olmo2', interleaved: false, layerNames: { ...LAYER, ...AFTER } },
  lfm2: { name: 'lfm2', interleaved: false, layerNames: LFM2 },
  lfm3: null,
  gemma4_text: null,
  gemma4_unified_text: null,
  granite: { name: 'granite', interleaved: true, layerNames: LAYER },
  // Without Mamba and experts it is Granite, as llama.cpp's converter has it.
  granitemoehybrid: { name: 'granite', interleaved: true, layerNames: { ...LAYER, ...SHARED } },
} as const satisfies Readonly<Record<ModelType, GgufArchitecture | null>>;

const GRANITE_HYBRID = {
  name: 'granitehybrid',
  interleaved: true,
  layerNames: { ...LAYER, ...SHARED, ...MAMBA },
} as const satisfies GgufArchitecture;

/** The architectures that are written; a file of each is read too. */
export type GgufName = NonNullable<(typeof ARCHITECTURES)[ModelType]>['name'] | (typeof GRANITE_HYBRID)['name'];

const OUTER_NAMES: Readonly<Record<string, string>> = {
  'model.embed_tokens.weight': 'token_embd.weight',
  'model.norm.weight': 'output_norm.weight',
  'model.embedding_norm.weight': 'token_embd_norm.weight',
  'lm_head.weight': 'output.weight',
};

/** A model's architecture in llama.cpp; an error where that computes something else than the model. */
export function ggufArchitecture(config: ModelConfig): GgufArchitecture {
  const architecture = config.recurrent?.mixer === 'mamba' ? GRANITE_HYBRID : ARCHITECTURES[config.modelType];
  const remedy = 'Export the Hugging Face folder without a GGUF file.';
  if (architecture === null)
    throw inputError('UNSUPPORTED_GGUF', `Braid writes no GGUF file of a model of type ${config.modelType}`, remedy);
  const problem = differenceOf(config);
  if (problem === null) return architecture;
  const message = `llama.cpp's "${architecture.name}" can't compute this model: ${problem}`;
  throw inputError('UNSUPPORTED_GGUF', message, remedy);
}

/** llama.cpp's names of a tensor, between which its rows are divided. */
export function ggufNames(name: string, { layerNames }: GgufArchitecture): readonly string[] {
  const outer = OUTER_NAMES[name];
  if (outer !== undefined) return [outer];
  const [, layer, inner = ''] = /^model\.layers\.(\d+)\.(.+)$/.exec(name) ?? [];
  const [, module = '', kind] = /^(.+)(\.weight|\.bias)$/.exec(inner) ?? [];
  const found = layerNames[inner] ?? layerNames[module];
  if (found === undefined) throw new Error(`Expected a tensor of a decoder, got ${name}`);
  return [found].flat().map((each) => `blk.${layer}.${each}${layerNames[inner] === undefined ? kind : ''}`);
}

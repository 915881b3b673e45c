/** What a layer's parts are called in the files of an architecture. */
import type { ModelType } from './model-types.ts';
import type { Traits } from './traits.ts';

export interface LayerNames {
  /** Before and after the mixer and the MLP; null where an architecture has none. */
  readonly mixerNorms: readonly [string | null, string | null];
  readonly mlpNorms: readonly [string | null, string | null];
  readonly o: string;
  readonly qNorm: string;
  readonly kNorm: string;
  /** gate and up, or both in one. */
  readonly gateUp: readonly string[];
  readonly down: string;
  /** The model's last norm. */
  readonly last: string;
}

const USUAL = {
  o: 'self_attn.o_proj',
  qNorm: 'self_attn.q_norm',
  kNorm: 'self_attn.k_norm',
  down: 'mlp.down_proj',
  last: 'model.norm',
} as const;

const LFM2: LayerNames = {
  mixerNorms: ['operator_norm', null],
  mlpNorms: ['ffn_norm', null],
  o: 'self_attn.out_proj',
  qNorm: 'self_attn.q_layernorm',
  kNorm: 'self_attn.k_layernorm',
  gateUp: ['feed_forward.w1', 'feed_forward.w3'],
  down: 'feed_forward.w2',
  last: 'model.embedding_norm',
};

/** The gate of attention's heads is another than the MLP's; norms stand before and after. */
const LFM3 = { ...LFM2, o: USUAL.o, qNorm: USUAL.qNorm, kNorm: USUAL.kNorm } as const;
const LFM3_NORMS = {
  mixerNorms: ['operator_norm', 'post_operator_norm'],
  mlpNorms: ['ffn_norm', 'post_ffn_norm'],
} as const;

/** Of dense Granite 4: the part of its MLP that other sizes share among experts. */
const GRANITE_4 = { gateUp: ['shared_mlp.input_linear'], down: 'shared_mlp.output_linear' } as const;

/** The names of a layer's norms, by where they are. */
const NORMS = {
  before: { mixerNorms: ['input_layernorm', null], mlpNorms: ['post_attention_layernorm', null] },
  after: { mixerNorms: [null, 'post_attention_layernorm'], mlpNorms: [null, 'post_feedforward_layernorm'] },
  both: {
    mixerNorms: ['input_layernorm', 'post_attention_layernorm'],
    mlpNorms: ['pre_feedforward_layernorm', 'post_feedforward_layernorm'],
  },
} as const;

export function namesOf({
  modelType,
  norms,
  fusedProjections,
}: Pick<Traits, 'norms' | 'fusedProjections'> & { readonly modelType: ModelType }): LayerNames {
  if (modelType === 'lfm2') return LFM2;
  if (modelType === 'lfm3') return norms === 'both' ? { ...LFM3, ...LFM3_NORMS } : LFM3;
  if (modelType === 'granitemoehybrid') return { ...USUAL, ...NORMS[norms], ...GRANITE_4 };
  const gateUp = fusedProjections ? ['mlp.gate_up_proj'] : ['mlp.gate_proj', 'mlp.up_proj'];
  return { ...USUAL, ...NORMS[norms], gateUp };
}

/** Whether a tensor is the matrix of a linear layer, which adapters and quantisation are for. */
export function isLinearWeight(name: string): boolean {
  return /(_proj|\.per_layer_(input_gate|(model_)?projection)|\.in_proj_\w+|\.feed_forward\.w[123]|\.shared_mlp\.(in|out)put_linear)\.weight$/.test(
    name,
  );
}

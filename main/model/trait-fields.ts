/** The fields of config.json in which architectures differ, and what they may hold. */
import { z } from 'zod';

/** A count or size of at most so much. */
export const sizeTo = (most: number) => z.int().min(1).max(most);
/** What fits the formats that models are written in. */
export const LARGEST_SIZE = 2 ** 31 - 1;
const size = sizeTo(LARGEST_SIZE);
const LARGEST_WIDTH = 8192;
/** Smaller ones make angles that float32 doesn't hold. */
export const ropeBase = z.number().min(1).max(1e30);
/** A number that multiplies or divides: its square fits float32. */
const factor = z.number().min(1e-15).max(1e15);
const multiplier = z.number().min(-1e15).max(1e15);
/** As transformers 5 writes it. */
const infinity = z.object({ __float__: z.literal('Infinity') }).transform(() => Number.POSITIVE_INFINITY);
const ropeFields = {
  rope_type: z.string().optional(),
  type: z.string().optional(),
  rope_theta: ropeBase.optional(),
  factor: factor.nullish(),
  low_freq_factor: factor.optional(),
  high_freq_factor: factor.optional(),
  original_max_position_embeddings: size.nullish(),
  short_factor: z.array(factor).optional(),
  long_factor: z.array(factor).optional(),
  attention_factor: factor.nullish(),
  beta_fast: factor.nullish(),
  beta_slow: factor.nullish(),
  mscale: factor.or(z.literal(0)).nullish(),
  mscale_all_dim: factor.or(z.literal(0)).nullish(),
  truncate: z.boolean().nullish(),
  llama_4_scaling_beta: z.number().min(0).max(1e3).nullish(),
  partial_rotary_factor: z.number().min(0).max(1).nullish(),
};
/** RoPE's settings; newer files of Gemma 3 have them by kind of layer. */
const ropeSchema = z.looseObject({
  ...ropeFields,
  full_attention: z.looseObject(ropeFields).optional(),
  sliding_attention: z.looseObject(ropeFields).optional(),
});
export type RawRope = z.infer<typeof ropeSchema>;

/** The fields of config.json that are read here. */
export const traitFields = {
  hidden_act: z.string().nullish(),
  hidden_activation: z.string().nullish(),
  mlp_bias: z.boolean().default(false),
  rope_scaling: ropeSchema.nullish(),
  rope_parameters: ropeSchema.nullish(),
  partial_rotary_factor: z.number().min(0).max(1).nullish(),
  original_max_position_embeddings: size.nullish(),
  no_rope_layers: z.array(z.int()).nullish(),
  no_rope_layer_interval: size.default(4),
  use_sliding_window: z.boolean().nullish(),
  use_bidirectional_attention: z.union([z.boolean(), z.string()]).nullish(),
  sliding_window: size.nullish(),
  sliding_window_pattern: size.default(6),
  max_window_layers: z.int().min(0).default(28),
  layer_types: z.array(z.string()).nullish(),
  rope_local_base_freq: ropeBase.default(10000),
  query_pre_attn_scalar: factor.default(256),
  attn_logit_softcapping: z.number().nullish(),
  final_logit_softcapping: factor.nullish(),
  embedding_multiplier: multiplier.default(1),
  residual_multiplier: multiplier.default(1),
  attention_multiplier: multiplier.default(1),
  logits_scaling: factor.default(1),
  position_embedding_type: z.string().nullish(),
  num_local_experts: z.int().min(0).default(8),
  conv_L_cache: sizeTo(64).optional(),
  conv_bias: z.boolean().default(false),
  use_sandwich_norm: z.boolean().default(true),
  use_attention_gate: z.boolean().default(true),
  full_attn_idxs: z.array(z.int()).nullish(),
  full_attention_interval: size.default(4),
  global_head_dim: sizeTo(8192).nullish(),
  num_global_key_value_heads: sizeTo(4096).nullish(),
  per_layer_config: z
    .record(
      z.string(),
      z.looseObject({ head_dim: sizeTo(8192).optional(), num_key_value_heads: sizeTo(4096).optional() }),
    )
    .nullish(),
  attention_k_eq_v: z.boolean().default(false),
  num_kv_shared_layers: z.int().min(0).default(0),
  use_double_wide_mlp: z.boolean().default(false),
  enable_moe_block: z.boolean().default(false),
  hidden_size_per_layer_input: z.int().min(0).max(LARGEST_WIDTH).nullish(),
  vocab_size_per_layer_input: sizeTo(2 ** 22).default(262_144),
  linear_conv_kernel_dim: sizeTo(64).default(4),
  linear_key_head_dim: sizeTo(8192).default(128),
  linear_value_head_dim: sizeTo(8192).default(128),
  linear_num_key_heads: sizeTo(4096).default(16),
  linear_num_value_heads: sizeTo(4096).default(32),
  mamba_n_heads: sizeTo(4096).default(128),
  mamba_n_groups: sizeTo(4096).default(1),
  mamba_d_state: sizeTo(8192).default(256),
  mamba_d_head: sizeTo(8192).or(z.literal('auto')).default('auto'),
  mamba_d_conv: sizeTo(64).default(4),
  mamba_expand: sizeTo(64).default(2),
  mamba_conv_bias: z.boolean().default(true),
  mamba_proj_bias: z.boolean().default(false),
  time_step_limit: z.tuple([z.number().min(0), z.number().min(0).or(infinity)]).nullish(),
};
const traitSchema = z.object(traitFields);
export type TraitFields = z.infer<typeof traitSchema>;

/** RoPE's settings of ordinary layers. Of a file with both spellings, transformers takes the older one. */
export function ropeOf({
  rope_parameters: rope,
  rope_scaling: scaling,
}: Pick<TraitFields, 'rope_parameters' | 'rope_scaling'>): RawRope {
  if (rope?.full_attention !== undefined) return { ...rope.full_attention, ...scaling };
  return (hasFields(scaling) ? scaling : rope) ?? {};
}

/** Whether the older spelling hides the base that the newer one has. */
export function losesRopeBase({
  rope_parameters: rope,
  rope_scaling: scaling,
  rope_theta: theta,
}: Pick<TraitFields, 'rope_parameters' | 'rope_scaling'> & { readonly rope_theta?: number | undefined }): boolean {
  const isHidden = hasFields(scaling) && rope?.full_attention === undefined && rope?.rope_theta !== undefined;
  return isHidden && (scaling?.rope_theta ?? theta) === undefined;
}

function hasFields(rope: RawRope | null | undefined): boolean {
  return Object.keys(rope ?? {}).length > 0;
}

/** Whether RoPE's settings are given by kind of layer. */
export function ropeIsByLayer({ rope_parameters: rope }: Pick<TraitFields, 'rope_parameters'>): boolean {
  return rope?.full_attention !== undefined || rope?.sliding_attention !== undefined;
}

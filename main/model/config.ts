import { join } from 'node:path';
import { z } from 'zod';
import { inputError } from '../errors.ts';
import { isJsonObject } from '../io/json.ts';
import { GEMMA_4 } from './gemma4.ts';
import { FAMILIES, MODEL_TYPES, type ModelType } from './model-types.ts';
import { namesOf } from './names.ts';
import { hasOwnHead, packedKind } from './open-weights.ts';
import { type Quantisation, readQuantisation } from './quantised/settings.ts';
import { readJson, readSettings } from './read-json.ts';
import { type RopeScaling, readRopeScaling, scaledContext } from './rope-scaling.ts';
import { issuesOf, shown } from './shown.ts';
import { textPartOf } from './text-part.ts';
import { LARGEST_SIZE, losesRopeBase, ropeBase, ropeIsByLayer, ropeOf, sizeTo, traitFields } from './trait-fields.ts';
import { readTraits, rotatedShare, type Traits } from './traits.ts';
import { weightsOptions } from './weight-names.ts';

export { readJson };

/** The settings of a model that the decoder needs, from its config.json. */
export interface ModelConfig extends Traits {
  readonly modelType: ModelType;
  readonly vocabSize: number;
  readonly hiddenSize: number;
  readonly intermediateSize: number;
  readonly numLayers: number;
  readonly numHeads: number;
  readonly numKvHeads: number;
  readonly headDim: number;
  readonly rmsNormEps: number;
  readonly ropeTheta: number;
  readonly ropeScaling: RopeScaling | null;
  readonly maxPositionEmbeddings: number;
  readonly tieWordEmbeddings: boolean;
  /** Biases on the q, k and v projections (Qwen2, or Llama's attention_bias). */
  readonly attentionBias: boolean;
  /** RMSNorm of q and k before RoPE (Qwen3, Gemma 3, OLMo). */
  readonly qkNorm: boolean;
  readonly eosTokenIds: readonly number[];
  readonly padTokenId: number | null;
}

const tokenIds = z.union([z.int().min(0), z.array(z.int().min(0)).max(1000)]).nullish();

/** Far beyond any model: what is larger would take all memory before a missing weight is noticed. */
const MOST = { vocabulary: 2 ** 22, width: 2 ** 18, inner: 2 ** 20, layers: 1000, heads: 4096, headDim: 8192 } as const;

const epsilon = z.number().min(1e-30).max(1).optional();

const configSchema = z.looseObject({
  ...traitFields,
  model_type: z.enum(MODEL_TYPES),
  vocab_size: sizeTo(MOST.vocabulary),
  hidden_size: sizeTo(MOST.width),
  intermediate_size: sizeTo(MOST.inner),
  num_hidden_layers: sizeTo(MOST.layers),
  num_attention_heads: sizeTo(MOST.heads),
  num_key_value_heads: sizeTo(MOST.heads).nullish(),
  head_dim: sizeTo(MOST.headDim).nullish(),
  rms_norm_eps: epsilon,
  norm_eps: epsilon,
  shared_intermediate_size: sizeTo(MOST.inner).default(1024),
  block_ff_dim: sizeTo(MOST.inner).optional(),
  block_auto_adjust_ff_dim: z.boolean().default(true),
  block_ffn_dim_multiplier: z.number().min(1e-3).max(1e3).nullish(),
  block_multiple_of: sizeTo(MOST.inner).default(256),
  tie_embedding: z.boolean().optional(),
  rope_theta: ropeBase.optional(),
  max_position_embeddings: sizeTo(LARGEST_SIZE).default(2048),
  tie_word_embeddings: z.boolean().optional(),
  attention_bias: z.boolean().default(false),
  eos_token_id: tokenIds,
  pad_token_id: z.int().nullish(),
  quantization_config: z.unknown().optional(),
});

type RawConfig = z.infer<typeof configSchema>;

/** Reads and checks `config.json` (and the end tokens of `generation_config.json`) of a Hugging Face folder. */
export function readModelConfig(folder: string): ModelConfig {
  const file = join(folder, 'config.json');
  const config = parseModelConfig(readSettings(file), file, generationEos(folder));
  const ownHead = config.tieWordEmbeddings && hasOwnHead(folder, config);
  const quantisation = config.quantisation === null ? null : asStored(folder, config, config.quantisation);
  return { ...config, quantisation, tieWordEmbeddings: config.tieWordEmbeddings && !ownHead };
}

/** Kept as it is where its blocks are those of Braid's kernels, which its first layer shows. */
function asStored(folder: string, config: ModelConfig, quantisation: Quantisation): Quantisation {
  const name = `model.layers.0.${namesOf(config).down}.weight`;
  const kept = packedKind(folder, weightsOptions(config), name, [config.hiddenSize, config.intermediateSize]);
  return kept === quantisation.keptAs ? quantisation : { ...quantisation, keptAs: null };
}

/** Checks a parsed config.json; `origin` identifies it in errors. */
export function parseModelConfig(value: unknown, origin: string, extraEos: readonly number[] = []): ModelConfig {
  const text = textPartOf(value);
  const parsed = configSchema.safeParse(withInnerSize(text ?? value), { reportInput: true });
  if (!parsed.success) {
    // For an unknown architecture, errors in the other fields don't matter.
    const strange = parsed.error.issues.find(({ path }) => path[0] === 'model_type');
    if (strange !== undefined) throw unknownArchitecture(value, origin);
    throw inputError(
      'BAD_MODEL_CONFIG',
      `${origin}: ${issuesOf(parsed.error)}`,
      `${FAMILIES} models in Hugging Face format are supported.`,
    );
  }
  const quantisation = readQuantisation(parsed.data, origin);
  const config = { ...toModelConfig(parsed.data, origin, extraEos), textPart: text !== null, quantisation };
  if (quantisation?.method === 'mlx' && config.recurrent !== null) throw otherLayout(origin);
  if (config.headDim % 2 !== 0) {
    throw inputError(
      'BAD_MODEL_CONFIG',
      `${origin}: expected an even "head_dim" (default hidden_size / num_attention_heads), got ${config.headDim}`,
    );
  }
  if (config.numHeads % config.numKvHeads !== 0) {
    throw inputError(
      'BAD_MODEL_CONFIG',
      `${origin}: expected num_attention_heads (${config.numHeads}) to be a multiple of num_key_value_heads (${config.numKvHeads})`,
    );
  }
  return config;
}

function otherLayout(origin: string): Error {
  return inputError(
    'BAD_MODEL_CONFIG',
    `${origin}: MLX keeps the convolutions and norms of this model in another layout than its original`,
    'Use the original model that it was made from.',
  );
}

function unknownArchitecture(value: unknown, origin: string): Error {
  const { model_type: type, num_experts, num_local_experts } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const got = shown(type);
  if (/moe|mixtral/i.test(String(type)) || Number(num_experts ?? num_local_experts ?? 0) > 0)
    return inputError(
      'BAD_MODEL_CONFIG',
      `${origin}: it is a mixture of experts (${got}), which Braid doesn't compute`,
      `Choose a dense model: ${FAMILIES} are supported, in Hugging Face format.`,
    );
  return inputError(
    'BAD_MODEL_CONFIG',
    `${origin}: expected "model_type" to be one of ${MODEL_TYPES.join(', ')}, got ${got}`,
    `Choose another model: ${FAMILIES} are supported, in Hugging Face format.`,
  );
}

const WITH_QK_NORM: readonly ModelType[] = [
  'qwen3',
  'qwen3_5_text',
  'gemma3_text',
  'olmo2',
  'olmo3',
  'lfm2',
  'lfm3',
  ...GEMMA_4,
];

/** They have no biases in attention, whatever "attention_bias" says. */
const NO_BIASES: readonly ModelType[] = ['mistral', 'ministral3', 'phi3', 'lfm2'];

/** What a class of transformers has where config.json says nothing. */
const DEFAULTS: Readonly<
  Partial<Record<ModelType, { tied?: boolean; headDim?: number; eps?: number; theta?: number }>>
> = {
  qwen3: { headDim: 128 },
  smollm3: { tied: true, theta: 2e6 },
  phi3: { eps: 1e-5 },
  olmo2: { eps: 1e-5 },
  olmo3: { eps: 1e-5, theta: 5e5 },
  ministral3: { eps: 1e-5, headDim: 128 },
  lfm2: { tied: true, theta: 1e6, eps: 1e-5 },
  lfm3: { tied: true, headDim: 128, theta: 1e6, eps: 1e-5 },
  qwen3_5_text: { headDim: 256 },
  gemma3_text: { tied: true, headDim: 256, theta: 1e6 },
  gemma4_text: { tied: true, headDim: 256, theta: 1e6 },
  gemma4_unified_text: { tied: true, headDim: 256, theta: 1e6 },
};

function toModelConfig(raw: RawConfig, origin: string, extraEos: readonly number[]): ModelConfig {
  const ids = raw.eos_token_id ?? [];
  const defaults = DEFAULTS[raw.model_type] ?? {};
  const headDim = raw.head_dim ?? defaults.headDim ?? raw.hidden_size / raw.num_attention_heads;
  if (losesRopeBase(raw))
    throw inputError(
      'BAD_MODEL_CONFIG',
      `${origin}: "rope_scaling" beside "rope_parameters" counts alone, as in transformers, and has no "rope_theta"`,
      'Move what it says into "rope_parameters", and remove "rope_scaling".',
    );
  const traits = readTraits(raw, headDim, origin);
  return {
    ...traits,
    modelType: raw.model_type,
    vocabSize: raw.vocab_size,
    hiddenSize: raw.hidden_size,
    intermediateSize: innerSize(raw),
    numLayers: raw.num_hidden_layers,
    numHeads: raw.num_attention_heads,
    numKvHeads: raw.num_key_value_heads ?? raw.num_attention_heads,
    headDim,
    rmsNormEps: (['lfm2', 'lfm3'].includes(raw.model_type) ? raw.norm_eps : raw.rms_norm_eps) ?? defaults.eps ?? 1e-6,
    // Newer files fold theta into rope_parameters.
    ropeTheta: ropeOf(raw).rope_theta ?? raw.rope_theta ?? defaults.theta ?? 10000,
    ropeScaling: traits.longRope === null ? ropeScaling(raw, origin) : null,
    maxPositionEmbeddings: raw.max_position_embeddings,
    tieWordEmbeddings: raw.tie_embedding ?? raw.tie_word_embeddings ?? defaults.tied ?? false,
    attentionBias: raw.model_type === 'qwen2' || (raw.attention_bias && !NO_BIASES.includes(raw.model_type)),
    qkNorm: WITH_QK_NORM.includes(raw.model_type),
    eosTokenIds: [...new Set([...(Array.isArray(ids) ? ids : [ids]), ...extraEos])],
    padTokenId: raw.pad_token_id ?? null,
  };
}

/** The first files of LFM2 have a name of their own alone. */
function withInnerSize(value: unknown): unknown {
  if (!isJsonObject(value) || value.model_type !== 'lfm2') return value;
  return { intermediate_size: value.block_ff_dim, ...value };
}

/** The MLP's width; LFM2 gives that of an MLP without a gate, and what two thirds of it are rounded up to. */
function innerSize(raw: RawConfig): number {
  if (raw.model_type === 'granitemoehybrid') return raw.shared_intermediate_size;
  if (raw.model_type !== 'lfm2') return raw.intermediate_size;
  const given = raw.block_ff_dim ?? raw.intermediate_size;
  if (!raw.block_auto_adjust_ff_dim) return given;
  const two = Math.floor((2 * given) / 3);
  const { block_ffn_dim_multiplier: times = 1, block_multiple_of: each } = raw;
  return times === null ? two : each * Math.ceil(Math.floor(times * two) / each);
}

/** The share of a head that turns by a proportional RoPE, of architectures that have one where their file says nothing. */
const PROPORTIONAL: Readonly<Partial<Record<ModelType, number>>> = {
  gemma4_text: 0.25,
  gemma4_unified_text: 0.25,
  lfm3: 0.5,
};

function ropeScaling(raw: RawConfig, origin: string): RopeScaling | null {
  const rope = ropeOf(raw);
  const share = rope.rope_type === undefined ? PROPORTIONAL[raw.model_type] : undefined;
  const usual = share !== undefined && { rope_type: 'proportional', partial_rotary_factor: share };
  return readRopeScaling(
    { partial_rotary_factor: rotatedShare(raw), ...usual, ...rope },
    {
      maxPositionEmbeddings: raw.max_position_embeddings,
      originalMaxPositionEmbeddings: raw.original_max_position_embeddings ?? null,
      byLayer: ropeIsByLayer(raw),
      origin,
    },
  );
}

/** The most tokens of a prompt and its completion that a model computes rightly. */
export function contextLength({ ropeScaling, maxPositionEmbeddings }: ModelConfig): number {
  return scaledContext(ropeScaling, maxPositionEmbeddings);
}

/** Every end token of generation_config.json: chat models end a turn with a different token than a document. */
function generationEos(folder: string): readonly number[] {
  const file = join(folder, 'generation_config.json');
  let value: unknown;
  try {
    value = readSettings(file);
  } catch (error) {
    // The file is optional, but must be valid if present.
    if (error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return [];
    throw error;
  }
  const parsed = z.looseObject({ eos_token_id: tokenIds }).safeParse(value);
  if (!parsed.success)
    throw inputError('BAD_MODEL_CONFIG', `${file}: expected "eos_token_id" to be a token id or a list of them`);
  const ids = parsed.data.eos_token_id ?? [];
  return Array.isArray(ids) ? ids : [ids];
}

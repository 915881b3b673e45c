/**
 * In what the supported architectures differ from Llama, read from config.json. Defaults that a file leaves out are those
 * of transformers' configuration classes.
 */
import { z } from 'zod';
import { inputError } from '../errors.ts';
import { shown } from './shown.ts';

/** The values of "model_type" that load. */
export const MODEL_TYPES = [
  ...(['llama', 'mistral', 'qwen2', 'qwen3', 'smollm3'] as const),
  ...(['phi3', 'gemma3_text', 'olmo2', 'granite'] as const),
] as const;
export type ModelType = (typeof MODEL_TYPES)[number];

/** The same for people. */
export const FAMILIES =
  'Llama, Mistral, Qwen2, Qwen3, SmolLM3, Phi-3 and Phi-4-mini, Gemma 3 (text), OLMo-2 and Granite';

/** The class of transformers that each is loaded by. */
export const ARCHITECTURES: Readonly<Record<ModelType, string>> = {
  llama: 'LlamaForCausalLM',
  mistral: 'MistralForCausalLM',
  qwen2: 'Qwen2ForCausalLM',
  qwen3: 'Qwen3ForCausalLM',
  smollm3: 'SmolLM3ForCausalLM',
  phi3: 'Phi3ForCausalLM',
  gemma3_text: 'Gemma3ForCausalLM',
  olmo2: 'Olmo2ForCausalLM',
  granite: 'GraniteForCausalLM',
};

/** RoPE of Phi-3 within its original context: each frequency is divided by a factor, cos and sin are multiplied. */
export interface LongRope {
  readonly factors: readonly number[];
  /** Those that count beyond it. */
  readonly longFactors: readonly number[];
  readonly attentionFactor: number;
  readonly originalMaxPositionEmbeddings: number;
}

export interface Traits {
  /** RMSNorm before a block's attention and MLP, after them (OLMo-2), or on both sides (Gemma). */
  readonly norms: 'before' | 'after' | 'both';
  /** Norms multiply by 1 + weight instead of by the weight (Gemma). */
  readonly unitOffset: boolean;
  /** What a norm of q and k runs over: each head (Qwen3, Gemma), or all of them together (OLMo-2). */
  readonly qkNormOver: 'head' | 'heads';
  /** Of the MLP's gate: SwiGLU, or GeGLU by the approximation with tanh (Gemma). */
  readonly activation: 'silu' | 'gelu_tanh';
  readonly mlpBias: boolean;
  /** One projection for q, k and v, and one for gate and up (Phi-3). */
  readonly fusedProjections: boolean;
  /** Multiplies the attention scores; null: head_dim^-0.5. */
  readonly attentionScale: number | null;
  /** Multiplies the embeddings. */
  readonly embeddingScale: number;
  /** Multiplies what attention and MLP add to the residual stream (Granite). */
  readonly residualScale: number;
  /** Divides the logits (Granite). */
  readonly logitsScale: number;
  /** The first dimensions of a head that RoPE rotates; null: all (Phi-4-mini: three quarters). */
  readonly rotaryDim: number | null;
  readonly longRope: LongRope | null;
  /** Layers without RoPE (SmolLM3). */
  readonly noRopeLayers: readonly number[];
  /** Layers whose tokens see only the last `window` tokens, themselves included. */
  readonly windowLayers: readonly number[];
  readonly window: number | null;
  /** RoPE's base in those layers, where it is another (Gemma 3). */
  readonly localRopeTheta: number | null;
}

/** Llama. */
export const PLAIN_TRAITS: Traits = {
  norms: 'before',
  unitOffset: false,
  qkNormOver: 'head',
  activation: 'silu',
  mlpBias: false,
  fusedProjections: false,
  attentionScale: null,
  embeddingScale: 1,
  residualScale: 1,
  logitsScale: 1,
  rotaryDim: null,
  longRope: null,
  noRopeLayers: [],
  windowLayers: [],
  window: null,
  localRopeTheta: null,
};

/** Whether an architecture computes what Llama, Qwen2 and Qwen3 do; its window is another matter. */
export function isPlain(traits: Traits): boolean {
  const { window: _window, windowLayers: _layers, ...free } = traits;
  return Object.entries(free).every(([key, value]) => {
    const plain = PLAIN_TRAITS[key as keyof Traits];
    return value === plain || !(key in PLAIN_TRAITS) || (Array.isArray(value) && value.length === 0);
  });
}

/** A count or size of at most so much. */
export const sizeTo = (most: number) => z.int().min(1).max(most);
/** What fits the formats that models are written in. */
export const LARGEST_SIZE = 2 ** 31 - 1;
const size = sizeTo(LARGEST_SIZE);
/** Smaller ones make angles that float32 doesn't hold. */
export const ropeBase = z.number().min(1).max(1e30);
/** A number that multiplies or divides: its square fits float32. */
const factor = z.number().min(1e-15).max(1e15);
const multiplier = z.number().min(-1e15).max(1e15);
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
  use_bidirectional_attention: z.boolean().nullish(),
  sliding_window: size.nullish(),
  sliding_window_pattern: size.default(6),
  max_window_layers: z.int().min(0).default(28),
  layer_types: z.array(z.string()).nullish(),
  rope_local_base_freq: ropeBase.default(10000),
  query_pre_attn_scalar: factor.default(256),
  attn_logit_softcapping: z.number().nullish(),
  final_logit_softcapping: z.number().nullish(),
  embedding_multiplier: multiplier.default(1),
  residual_multiplier: multiplier.default(1),
  attention_multiplier: multiplier.default(1),
  logits_scaling: factor.default(1),
};
const traitSchema = z.object(traitFields);

export interface RawTraits extends z.infer<typeof traitSchema> {
  readonly model_type: ModelType;
  readonly hidden_size: number;
  readonly num_hidden_layers: number;
  readonly max_position_embeddings: number;
}

/** RoPE's settings of ordinary layers, in either spelling. */
export function ropeOf({
  rope_parameters,
  rope_scaling,
}: Pick<RawTraits, 'rope_parameters' | 'rope_scaling'>): RawRope {
  const rope = rope_parameters ?? rope_scaling ?? {};
  return rope.full_attention ?? rope;
}

/** The traits of a checked config.json; `origin` identifies it in errors. */
export function readTraits(raw: RawTraits, headDim: number, origin: string): Traits {
  checkActivation(raw, origin);
  const windowLayers = slidingLayers(raw);
  const window = slidingWindow(raw);
  if (windowLayers.length > 0 && window === null)
    throw unusable(origin, '"layer_types" has sliding-window layers, but there is no "sliding_window"');
  const kinds = raw.layer_types?.find((kind) => kind !== 'full_attention' && kind !== 'sliding_attention');
  if (kinds !== undefined)
    throw unusable(origin, `expected layers of full or sliding-window attention, got ${shown(kinds)}`);
  return {
    ...PLAIN_TRAITS,
    ...ownTraits(raw),
    mlpBias: raw.mlp_bias,
    ...rotation(raw, headDim, origin),
    noRopeLayers: noRopeLayers(raw),
    ...(windowLayers.length > 0 && { windowLayers, window }),
  };
}

function ownTraits(raw: RawTraits): Partial<Traits> {
  switch (raw.model_type) {
    case 'phi3':
      return { fusedProjections: true };
    case 'olmo2':
      return { norms: 'after', qkNormOver: 'heads' };
    case 'granite':
      return {
        attentionScale: raw.attention_multiplier,
        embeddingScale: raw.embedding_multiplier,
        residualScale: raw.residual_multiplier,
        logitsScale: raw.logits_scaling,
      };
    case 'gemma3_text':
      return {
        norms: 'both',
        unitOffset: true,
        activation: 'gelu_tanh',
        attentionScale: raw.query_pre_attn_scalar ** -0.5,
        embeddingScale: Math.sqrt(raw.hidden_size),
        localRopeTheta: raw.rope_parameters?.sliding_attention?.rope_theta ?? raw.rope_local_base_freq,
      };
    default:
      return {};
  }
}

function checkActivation(raw: RawTraits, origin: string): void {
  const gemma = raw.model_type === 'gemma3_text';
  const [key, expected] = gemma
    ? (['hidden_activation', 'gelu_pytorch_tanh'] as const)
    : (['hidden_act', 'silu'] as const);
  const got = raw[key] ?? expected;
  if (got !== expected) throw unusable(origin, `expected "${key}" to be "${expected}", got ${shown(got)}`);
  if (!gemma) return;
  for (const cap of ['attn_logit_softcapping', 'final_logit_softcapping'] as const)
    if (typeof raw[cap] === 'number')
      throw unusable(origin, `logits are capped ("${cap}"), which Braid doesn't compute`);
  if (raw.use_bidirectional_attention === true)
    throw unusable(origin, 'its attention isn\'t causal ("use_bidirectional_attention")');
}

/** Numbers from 0 of the layers with a sliding window. */
function slidingLayers(raw: RawTraits): number[] {
  const { num_hidden_layers: layers, layer_types: types, model_type: type } = raw;
  const where = (slides: (layer: number) => boolean): number[] => [...Array(layers).keys()].filter(slides);
  const qwen = type === 'qwen2' || type === 'qwen3';
  // A window of Qwen or SmolLM3 counts only with its switch.
  if ((qwen || type === 'smollm3') && raw.use_sliding_window !== true) return [];
  if (types !== null && types !== undefined) return where((layer) => types[layer] === 'sliding_attention');
  switch (type) {
    case 'mistral':
    case 'phi3':
      return slidingWindow(raw) === null ? [] : where(() => true);
    case 'gemma3_text':
      return where((layer) => (layer + 1) % raw.sliding_window_pattern !== 0);
    case 'smollm3':
      return noRopeLayers(raw).slice();
    default:
      return qwen ? where((layer) => layer >= raw.max_window_layers) : [];
  }
}

/** The window's tokens; null: none. Left out, it is what the class has. */
function slidingWindow({ sliding_window: given, model_type: type }: RawTraits): number | null {
  if (given !== undefined) return given;
  return type === 'phi3' || type === 'smollm3' || type === 'llama' ? null : 4096;
}

function noRopeLayers(raw: RawTraits): number[] {
  if (raw.model_type !== 'smollm3') return [];
  const every = raw.no_rope_layer_interval;
  const rotated = raw.no_rope_layers;
  return [...Array(raw.num_hidden_layers).keys()].filter((layer) =>
    rotated === null || rotated === undefined ? (layer + 1) % every === 0 : rotated[layer] === 0,
  );
}

/** What RoPE does in Phi-3. */
function rotation(raw: RawTraits, headDim: number, origin: string): Pick<Traits, 'rotaryDim' | 'longRope'> {
  if (raw.model_type !== 'phi3') return { rotaryDim: null, longRope: null };
  const factor = ropeOf(raw).partial_rotary_factor ?? raw.partial_rotary_factor ?? 1;
  const width = Math.floor(headDim * factor);
  if (width < 2 || width % 2 !== 0)
    throw unusable(origin, `"partial_rotary_factor" ${factor} rotates ${width} of a head's ${headDim} dimensions`);
  const found = longRope(raw, origin);
  if (found !== null && found.factors.length !== width / 2)
    throw unusable(origin, `expected ${width / 2} numbers in "short_factor", got ${found.factors.length}`);
  return { rotaryDim: width === headDim ? null : width, longRope: found };
}

/** Phi-3's long contexts. Beyond the original one other factors count for all positions: that isn't computed. */
function longRope(raw: RawTraits, origin: string): LongRope | null {
  const rope = ropeOf(raw);
  if (!isLongRope(rope)) return null;
  const original = rope.original_max_position_embeddings ?? raw.original_max_position_embeddings ?? 4096;
  if (rope.short_factor === undefined) throw unusable(origin, 'its RoPE scaling has no "short_factor"');
  const factor = rope.factor ?? raw.max_position_embeddings / original;
  const implied = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(original));
  return {
    factors: rope.short_factor,
    longFactors: rope.long_factor ?? rope.short_factor,
    attentionFactor: rope.attention_factor ?? implied,
    originalMaxPositionEmbeddings: original,
  };
}

/** Older files of Phi-3 call it su or yarn. */
function isLongRope({ rope_type, type }: RawRope): boolean {
  return ['longrope', 'su', 'yarn'].includes(rope_type ?? type ?? '');
}

function unusable(origin: string, what: string) {
  return inputError('BAD_MODEL_CONFIG', `${origin}: ${what}`, `Choose another model: ${FAMILIES} are supported.`);
}

/**
 * In what the supported architectures differ from Llama, read from config.json. Defaults that a file leaves out are those
 * of transformers' configuration classes.
 */
import { inputError } from '../errors.ts';
import { type Gemma4Traits, gemma4Traits, isGemma4 } from './gemma4.ts';
import { granite4Mamba, MAMBA_LAYERS, type MambaLayers } from './granite4.ts';
import { FAMILIES, type ModelType } from './model-types.ts';
import type { Quantisation } from './quantised/settings.ts';
import { shown } from './shown.ts';
import { type RawRope, ropeOf, type TraitFields } from './trait-fields.ts';
import { noRopeLayers, slidingLayers, slidingWindow } from './window-layers.ts';

/**
 * RoPE of Phi-3: each frequency is divided by a factor, cos and sin are multiplied. A model that is loaded for more than
 * its original context has the long factors at all positions, as in llama.cpp and vLLM.
 */
export interface LongRope {
  readonly factors: readonly number[];
  readonly longFactors: readonly number[];
  readonly attentionFactor: number;
  readonly originalMaxPositionEmbeddings: number;
}

/** Queries are multiplied by 1 + beta · log(1 + ⌊position / original length⌋) (Ministral 3). */
export interface QueryScale {
  readonly beta: number;
  readonly originalMaxPositionEmbeddings: number;
}

/** Layers of LFM2 and LFM3 that mix by a gated short convolution of `taps` tokens. */
export interface ShortConvolutionLayers {
  readonly mixer: 'short-convolution';
  readonly layers: readonly number[];
  readonly taps: number;
  readonly bias: boolean;
}

/** Layers of Qwen3.5 that mix by a gated delta rule, after a convolution of `taps` tokens. */
export interface GatedDeltaLayers {
  readonly mixer: 'gated-delta';
  readonly layers: readonly number[];
  readonly taps: number;
  readonly keyHeads: number;
  readonly keyDim: number;
  readonly valueHeads: number;
  readonly valueDim: number;
}

/** Gemma 4's own traits, which are null in the others. */
type Nullable<T> = { readonly [K in keyof T]: T[K] | null };

export interface Traits extends Nullable<Gemma4Traits> {
  /** RMSNorm before a block's attention and MLP, after them (OLMo-2), or on both sides (Gemma, LFM3). */
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
  /** RoPE's base in those layers, where it isn't that of the others or these are scaled (Gemma 3, OLMo-3, LFM3). */
  readonly localRopeTheta: number | null;
  readonly queryScale: QueryScale | null;
  /**
   * Attention's output is multiplied by a gate: a number a value, which q_proj gives beside the queries (Qwen3.5), or a
   * number a head, by a projection of its own (LFM3).
   */
  readonly outputGate: 'values' | 'heads' | null;
  /** Values are normed, without a weight, and a layer's output is multiplied by a number (Gemma 4). */
  readonly valueNorm: boolean;
  readonly layerScalar: boolean;
  /** Of a layer's own settings, as `layerConfig` gives them: keys are the values, or those of another layer. */
  readonly keysAreValues: boolean;
  readonly keysOf: number | null;
  /** Layers that keep a state instead of keys and values; null: none. */
  readonly recurrent: ShortConvolutionLayers | GatedDeltaLayers | MambaLayers | null;
  /** The model is the text part of one that reads images or sound too. */
  readonly textPart: boolean;
  /** How its files have their matrices; null: as numbers. */
  readonly quantisation: Quantisation | null;
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
  queryScale: null,
  outputGate: null,
  valueNorm: false,
  layerScalar: false,
  keysAreValues: false,
  keysOf: null,
  wideHeads: null,
  sharing: null,
  perLayerInput: null,
  logitsCap: null,
  recurrent: null,
  textPart: false,
  quantisation: null,
};

/** Whether an architecture computes what Llama, Qwen2 and Qwen3 do around its mixers; its window is another matter. */
export function isPlain(traits: Traits): boolean {
  const { window: _window, windowLayers: _layers, textPart: _part, quantisation: _files, ...rest } = traits;
  // Mixers know of these, and norms multiply by given factors.
  const {
    recurrent: _kind,
    rotaryDim: _dims,
    outputGate: _gate,
    noRopeLayers: _none,
    unitOffset: _offset,
    ...free
  } = rest;
  return Object.entries(free).every(([key, value]) => {
    const plain = PLAIN_TRAITS[key as keyof Traits];
    return value === plain || !(key in PLAIN_TRAITS) || (Array.isArray(value) && value.length === 0);
  });
}

export interface RawTraits extends TraitFields {
  readonly model_type: ModelType;
  readonly hidden_size: number;
  readonly num_hidden_layers: number;
  readonly num_attention_heads: number;
  readonly num_key_value_heads?: number | null | undefined;
  readonly head_dim?: number | null | undefined;
  readonly vocab_size: number;
  readonly max_position_embeddings: number;
}

/** The traits of a checked config.json; `origin` identifies it in errors. */
export function readTraits(raw: RawTraits, headDim: number, origin: string): Traits {
  checkActivation(raw, origin);
  const windowLayers = slidingLayers(raw);
  const window = slidingWindow(raw);
  if (windowLayers.length > 0 && window === null)
    throw unusable(origin, '"layer_types" has sliding-window layers, but there is no "sliding_window"');
  const recurrent = recurrentLayers(raw, origin);
  const known = [
    'full_attention',
    'attention',
    'sliding_attention',
    ...(recurrent === null ? [] : RECURRENT[recurrent.mixer]),
  ];
  const strange = raw.layer_types?.find((kind) => !known.includes(kind));
  if (strange !== undefined)
    throw unusable(origin, `expected layers of full or sliding-window attention, got ${shown(strange)}`);
  return {
    ...PLAIN_TRAITS,
    ...ownTraits(raw, origin),
    ...(isGemma4(raw.model_type) && gemma4Traits(raw, windowLayers, origin)),
    mlpBias: raw.mlp_bias && ['llama', 'granite', 'smollm3'].includes(raw.model_type),
    ...rotation(raw, headDim, origin),
    noRopeLayers: noRopeLayers(raw),
    ...(windowLayers.length > 0 && { windowLayers, window }),
    recurrent: recurrent === null || recurrent.layers.length === 0 ? null : recurrent,
  };
}

/** What "layer_types" calls them. */
const RECURRENT = {
  'short-convolution': ['conv'],
  'gated-delta': ['linear_attention'],
  mamba: MAMBA_LAYERS,
} as const satisfies Readonly<Record<NonNullable<Traits['recurrent']>['mixer'], readonly string[]>>;

/** The layers of a recurrent mixer, which may be none; null: the architecture has no such mixer. */
function recurrentLayers(raw: RawTraits, origin: string): Traits['recurrent'] {
  const where = (otherwise: (layer: number) => boolean, kind: string): number[] =>
    [...Array(raw.num_hidden_layers).keys()].filter((layer) =>
      raw.layer_types ? raw.layer_types[layer] === kind : otherwise(layer),
    );
  if (raw.model_type === 'lfm3') {
    const layers = where((layer) => layer % 4 !== 2 && (layer % 4 !== 0 || layer === 0), 'conv');
    return { mixer: 'short-convolution', layers, taps: raw.conv_L_cache ?? 7, bias: raw.conv_bias };
  }
  if (raw.model_type === 'lfm2') {
    const attends = (layer: number): boolean => raw.full_attn_idxs?.includes(layer) ?? true;
    const layers = where((layer) => !attends(layer), RECURRENT['short-convolution'][0]);
    return { mixer: 'short-convolution', layers, taps: raw.conv_L_cache ?? 3, bias: raw.conv_bias };
  }
  if (raw.model_type === 'granitemoehybrid') return granite4Mamba(raw, origin);
  if (raw.model_type !== 'qwen3_5_text') return null;
  const { linear_num_key_heads: keyHeads, linear_num_value_heads: valueHeads } = raw;
  if (valueHeads % keyHeads !== 0)
    throw unusable(
      origin,
      `expected "linear_num_value_heads" (${valueHeads}) to be a multiple of "linear_num_key_heads" (${keyHeads})`,
    );
  return {
    mixer: 'gated-delta',
    layers: where((layer) => (layer + 1) % raw.full_attention_interval !== 0, RECURRENT['gated-delta'][0]),
    taps: raw.linear_conv_kernel_dim,
    keyHeads,
    keyDim: raw.linear_key_head_dim,
    valueHeads,
    valueDim: raw.linear_value_head_dim,
  };
}

function ownTraits(raw: RawTraits, origin: string): Partial<Traits> {
  switch (raw.model_type) {
    case 'phi3':
      return { fusedProjections: true };
    case 'olmo2':
      return { norms: 'after', qkNormOver: 'heads' };
    case 'olmo3':
      return { norms: 'after', qkNormOver: 'heads', localRopeTheta: localTheta(raw, 500_000, origin) };
    case 'ministral3':
      return { queryScale: queryScale(raw, origin) };
    case 'qwen3_5_text':
      return { unitOffset: true, outputGate: 'values' };
    case 'lfm3':
      return {
        norms: raw.use_sandwich_norm ? 'both' : 'before',
        localRopeTheta: localTheta(raw, 10_000, origin),
        outputGate: raw.use_attention_gate ? 'heads' : null,
      };
    case 'granite':
    case 'granitemoehybrid':
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
        localRopeTheta: localTheta(raw, raw.rope_local_base_freq, origin),
      };
    case 'gemma4_text':
    case 'gemma4_unified_text':
      return {
        norms: 'both',
        activation: 'gelu_tanh',
        attentionScale: 1,
        embeddingScale: Math.sqrt(raw.hidden_size),
        localRopeTheta: localTheta(raw, 10_000, origin),
        valueNorm: true,
        layerScalar: true,
      };
    case 'llama':
    case 'mistral':
    case 'qwen2':
    case 'qwen3':
    case 'smollm3':
    case 'lfm2':
      return {};
  }
}

/** The base in layers with a window, whose RoPE no published model scales. */
function localTheta({ rope_parameters: rope }: RawTraits, otherwise: number, origin: string): number {
  const { rope_type, type, rope_theta } = rope?.sliding_attention ?? {};
  const scaled = rope_type ?? type ?? 'default';
  if (scaled !== 'default')
    throw unusable(
      origin,
      `RoPE of its layers with a window is scaled by ${shown(scaled)}, which Braid doesn't compute`,
    );
  return rope_theta ?? otherwise;
}

function queryScale(raw: RawTraits, origin: string): QueryScale {
  const { llama_4_scaling_beta: beta, original_max_position_embeddings: original } = ropeOf(raw);
  if (typeof beta !== 'number' || typeof original !== 'number')
    throw unusable(
      origin,
      'expected "llama_4_scaling_beta" and "original_max_position_embeddings" in "rope_parameters"',
    );
  return { beta, originalMaxPositionEmbeddings: original };
}

function checkActivation(raw: RawTraits, origin: string): void {
  const gemma = raw.model_type.startsWith('gemma');
  const [key, expected] = gemma
    ? (['hidden_activation', 'gelu_pytorch_tanh'] as const)
    : (['hidden_act', 'silu'] as const);
  const got = raw[key] ?? expected;
  if (got !== expected) throw unusable(origin, `expected "${key}" to be "${expected}", got ${shown(got)}`);
  if (!gemma) return;
  const caps = ['attn_logit_softcapping', 'final_logit_softcapping'] as const;
  for (const cap of isGemma4(raw.model_type) ? [] : caps)
    if (typeof raw[cap] === 'number')
      throw unusable(origin, `logits are capped ("${cap}"), which Braid doesn't compute`);
  // "vision" is about the tokens of images.
  if (raw.use_bidirectional_attention === true || raw.use_bidirectional_attention === 'all')
    throw unusable(origin, 'its attention isn\'t causal ("use_bidirectional_attention")');
}

/** The share of a head that RoPE rotates, of the architectures where it may be less than all. */
const USUAL_SHARE: Readonly<Partial<Record<ModelType, number>>> = { phi3: 1, qwen3_5_text: 0.25 };

/** The same as a config.json says, or its architecture. */
export function rotatedShare(raw: RawTraits): number {
  return ropeOf(raw).partial_rotary_factor ?? raw.partial_rotary_factor ?? USUAL_SHARE[raw.model_type] ?? 1;
}

/** What part of a head RoPE rotates, in Phi-3 with factors of its own. */
function rotation(raw: RawTraits, headDim: number, origin: string): Pick<Traits, 'rotaryDim' | 'longRope'> {
  const { rope_type, type } = ropeOf(raw);
  // A proportional RoPE has a frequency for each pair of the head, some of them 0.
  if (USUAL_SHARE[raw.model_type] === undefined || (rope_type ?? type) === 'proportional')
    return { rotaryDim: null, longRope: null };
  const factor = rotatedShare(raw);
  const width = Math.floor(headDim * factor);
  if (width < 2 || width % 2 !== 0)
    throw unusable(origin, `"partial_rotary_factor" ${factor} rotates ${width} of a head's ${headDim} dimensions`);
  const rotaryDim = width === headDim ? null : width;
  return { rotaryDim, longRope: raw.model_type === 'phi3' ? longRope(raw, width, origin) : null };
}

/** Phi-3's long contexts. */
function longRope(raw: RawTraits, width: number, origin: string): LongRope | null {
  const rope = ropeOf(raw);
  if (!isLongRope(rope)) return null;
  // transformers has it beside RoPE's settings, by default in its class, and puts that one into them.
  const original = raw.original_max_position_embeddings ?? 4096;
  if (rope.short_factor === undefined) throw unusable(origin, 'its RoPE scaling has no "short_factor"');
  for (const [name, list] of Object.entries({ short_factor: rope.short_factor, long_factor: rope.long_factor }))
    if (list !== undefined && list.length !== width / 2)
      throw unusable(origin, `expected ${width / 2} numbers in "${name}", got ${list.length}`);
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

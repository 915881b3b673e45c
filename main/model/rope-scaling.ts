/** How RoPE's frequencies are changed for long contexts, as transformers computes it, by the settings of config.json. */
import { inputError } from '../errors.ts';
import { shown } from './shown.ts';
import type { RawRope } from './trait-fields.ts';

/** Llama 3: long wavelengths are divided by `factor`, short ones kept, those between interpolated. */
export interface Llama3Scaling {
  readonly type: 'llama3';
  readonly factor: number;
  readonly lowFreqFactor: number;
  readonly highFreqFactor: number;
  readonly originalMaxPositionEmbeddings: number;
}

/** All frequencies are divided. */
export interface LinearScaling {
  readonly type: 'linear';
  readonly factor: number;
}

/** Beyond the original length the base grows with the length that a model is loaded for. */
export interface DynamicScaling {
  readonly type: 'dynamic';
  readonly factor: number;
  readonly originalMaxPositionEmbeddings: number;
}

/** YaRN: frequencies between two dimensions pass from kept to divided, cos and sin are multiplied. */
export interface YarnScaling {
  readonly type: 'yarn';
  readonly factor: number;
  readonly originalMaxPositionEmbeddings: number;
  readonly attentionFactor: number;
  /** Turns within the original length above which a frequency is kept, and below which it is divided. */
  readonly betaFast: number;
  readonly betaSlow: number;
  /** Whether the two dimensions are whole numbers. */
  readonly truncate: boolean;
}

/** The first frequencies of a head are divided, the others don't rotate (Gemma 4). */
export interface ProportionalScaling {
  readonly type: 'proportional';
  readonly factor: number;
  /** The share of a head that rotates. */
  readonly share: number;
}

export type RopeScaling = Llama3Scaling | LinearScaling | DynamicScaling | YarnScaling | ProportionalScaling;

/** What a config.json says besides RoPE's own settings. */
export interface ScalingContext {
  readonly maxPositionEmbeddings: number;
  /** Beside RoPE's settings, where it counts before theirs. */
  readonly originalMaxPositionEmbeddings: number | null;
  /** RoPE's settings are given by kind of layer. */
  readonly byLayer: boolean;
  readonly origin: string;
}

/** The scaling of checked settings; null: none. */
export function readRopeScaling(rope: RawRope, context: ScalingContext): RopeScaling | null {
  const type = rope.rope_type ?? rope.type ?? 'default';
  switch (type) {
    case 'default':
      return null;
    case 'llama3':
      return llama3(rope, context.origin);
    case 'linear':
      return { type, factor: rope.factor ?? incomplete(rope, type, context.origin) };
    case 'dynamic': {
      const factor = rope.factor ?? incomplete(rope, type, context.origin);
      return { type, factor, originalMaxPositionEmbeddings: context.maxPositionEmbeddings };
    }
    case 'yarn':
      return yarn(rope, context);
    case 'proportional':
      return { type, factor: rope.factor ?? 1, share: rope.partial_rotary_factor ?? 1 };
    default:
      throw inputError(
        'BAD_MODEL_CONFIG',
        `${context.origin}: RoPE is scaled by ${shown(type)}, which Braid can't compute; it can do "default", "linear", "dynamic", "yarn", "llama3" and "proportional", and "longrope" of Phi`,
        'If the model was made to work without it too, remove "rope_scaling" (or the scaling in "rope_parameters") from config.json; otherwise choose another model.',
      );
  }
}

function llama3(rope: RawRope, origin: string): Llama3Scaling {
  const { factor, low_freq_factor: low, high_freq_factor: high, original_max_position_embeddings: original } = rope;
  if (!factor || low === undefined || high === undefined || !original) return incomplete(rope, 'llama3', origin);
  return {
    type: 'llama3',
    factor,
    lowFreqFactor: low,
    highFreqFactor: high,
    originalMaxPositionEmbeddings: original,
  };
}

function yarn(rope: RawRope, context: ScalingContext): YarnScaling {
  const { maxPositionEmbeddings, byLayer } = context;
  const original =
    context.originalMaxPositionEmbeddings ?? rope.original_max_position_embeddings ?? maxPositionEmbeddings;
  const factor = rope.factor ?? maxPositionEmbeddings / original;
  const { mscale, mscale_all_dim: all } = rope;
  const implied = mscale && all ? magnitude(factor, mscale) / magnitude(factor, all) : magnitude(factor, 1);
  return {
    type: 'yarn',
    factor,
    originalMaxPositionEmbeddings: original,
    attentionFactor: rope.attention_factor ?? implied,
    betaFast: rope.beta_fast || 32,
    betaSlow: rope.beta_slow || 1,
    // transformers looks for it beside the kinds of layers, where nothing writes it.
    truncate: byLayer || (rope.truncate ?? true),
  };
}

function magnitude(factor: number, scale: number): number {
  return factor <= 1 ? 1 : 0.1 * scale * Math.log(factor) + 1;
}

function incomplete(rope: RawRope, type: string, origin: string): never {
  throw inputError(
    'BAD_MODEL_CONFIG',
    `${origin}: expected a complete RoPE of type "${type}", got ${shown(rope)}`,
    'Copy or download config.json again.',
  );
}

/** Scaled frequencies of `width` rotated dimensions, for positions below `length`, [width / 2]. */
export function scaledFrequencies(
  width: number,
  theta: number,
  scaling: RopeScaling | null,
  length: number,
): Float64Array {
  const base = scaling?.type === 'dynamic' ? grownBase(width, theta, scaling, length) : theta;
  const plain = Float64Array.from({ length: width / 2 }, (_, j) => base ** ((-2 * j) / width));
  switch (scaling?.type) {
    case 'linear':
      return plain.map((frequency) => frequency / scaling.factor);
    case 'llama3':
      return plain.map((frequency) => squeeze(frequency, scaling));
    case 'yarn':
      return stretch(plain, theta, scaling);
    case 'proportional': {
      const rotated = Math.floor((scaling.share * width) / 2);
      return plain.map((frequency, j) => (j < rotated ? frequency / scaling.factor : 0));
    }
    default:
      return plain;
  }
}

function squeeze(frequency: number, scaling: Llama3Scaling): number {
  const { factor, lowFreqFactor: low, highFreqFactor: high, originalMaxPositionEmbeddings: original } = scaling;
  const wavelength = (2 * Math.PI) / frequency;
  if (wavelength < original / high) return frequency;
  if (wavelength > original / low) return frequency / factor;
  const smooth = (original / wavelength - low) / (high - low);
  return ((1 - smooth) * frequency) / factor + smooth * frequency;
}

function grownBase(width: number, theta: number, scaling: DynamicScaling, length: number): number {
  const { factor, originalMaxPositionEmbeddings: original } = scaling;
  const times = Math.max(length, original) / original;
  return theta * (factor * times - (factor - 1)) ** (width / (width - 2));
}

function stretch(plain: Float64Array, theta: number, scaling: YarnScaling): Float64Array {
  const { factor, originalMaxPositionEmbeddings: original, betaFast, betaSlow, truncate } = scaling;
  const width = 2 * plain.length;
  /** The dimension whose frequency makes so many turns within the original length. */
  const dimension = (turns: number): number =>
    (width * Math.log(original / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const [fast, slow] = [dimension(betaFast), dimension(betaSlow)];
  const first = Math.max(truncate ? Math.floor(fast) : fast, 0);
  const last = Math.min(truncate ? Math.ceil(slow) : slow, width - 1);
  const span = first === last ? 0.001 : last - first;
  return plain.map((frequency, j) => {
    const divided = Math.min(Math.max((j - first) / span, 0), 1);
    return (frequency / factor) * divided + frequency * (1 - divided);
  });
}

/** What cos and sin are multiplied by. */
export function amplitudeOf(scaling: RopeScaling | null): number {
  return scaling?.type === 'yarn' ? scaling.attentionFactor : 1;
}

/** The most tokens that a scaling was made for, where it differs from the model's own limit. */
export function scaledContext(scaling: RopeScaling | null, maxPositionEmbeddings: number): number {
  if (scaling?.type === 'dynamic') return Math.floor(scaling.factor * maxPositionEmbeddings);
  if (scaling?.type !== 'yarn') return maxPositionEmbeddings;
  return Math.max(maxPositionEmbeddings, Math.floor(scaling.factor * scaling.originalMaxPositionEmbeddings));
}

/** The same as config.json has it, in the older spelling. */
export function encodeRopeScaling(scaling: RopeScaling): Record<string, unknown> {
  const { type: rope_type, factor } = scaling;
  switch (scaling.type) {
    case 'linear':
    case 'dynamic':
      return { rope_type, factor };
    case 'llama3':
      return {
        rope_type,
        factor,
        low_freq_factor: scaling.lowFreqFactor,
        high_freq_factor: scaling.highFreqFactor,
        original_max_position_embeddings: scaling.originalMaxPositionEmbeddings,
      };
    case 'yarn':
      return {
        rope_type,
        factor,
        original_max_position_embeddings: scaling.originalMaxPositionEmbeddings,
        attention_factor: scaling.attentionFactor,
        beta_fast: scaling.betaFast,
        beta_slow: scaling.betaSlow,
        truncate: scaling.truncate,
      };
    case 'proportional':
      return { rope_type, factor, partial_rotary_factor: scaling.share };
  }
}

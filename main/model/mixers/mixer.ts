/**
 * A layer is a mixer, which brings tokens together, and an MLP. A kind of mixer is a folder here: its tensors, its pass
 * over tokens, its step, and what it keeps of them. Whoever trains, reads prompts, decodes, counts memory or exports asks the kind.
 */
import type * as tf from '@tensorflow/tfjs-core';
import type { DecodeLinear } from '../../tensor/ops/decode-kernels.ts';
import type { DecodeMixer } from '../../tensor/ops/decode-step.ts';
import type { ModelConfig } from '../config.ts';
import type { AdaptedModules, Linear } from '../linear.ts';
import type { Parameter } from '../parameter.ts';
import type { ModelRope } from '../rope-tables.ts';
import type { Sequences } from '../sequences.ts';

/** A layer's tensors by their names in it. */
export interface Parts {
  linear(name: string): Linear;
  tensor(name: string): Parameter;
  vector(name: string): Parameter<tf.Tensor1D>;
}

/** Keys and values as attention takes them, [N, K*d] each. */
export type KeysValues = readonly [tf.Tensor2D, tf.Tensor2D];

/** One pass over tokens, as a layer sees it. */
export interface Pass {
  readonly layer: number;
  /** As `layerConfig` gives it. */
  readonly config: ModelConfig;
  readonly rope: ModelRope;
  /** int32 [N] */
  readonly positions: tf.Tensor1D;
  readonly adapter: AdaptedModules | null;
  readonly sequences: Sequences;
  /** Keys and values of the layer whose they are, where they aren't the layer's own. */
  readonly given: KeysValues | null;
  /** Takes the layer's own, for others. */
  readonly onKeysValues: ((own: KeysValues) => unknown) | null;
}

/** Rows that are decoded, as a layer sees them. */
export interface Step {
  readonly layer: number;
  /** Which of the caches of keys and values is the layer's own. */
  readonly place: number;
  /** As `layerConfig` gives it. */
  readonly config: ModelConfig;
  readonly rope: ModelRope;
  linear(layer: Linear): DecodeLinear;
  /** What a norm multiplies by. */
  factor(weight: Parameter<tf.Tensor1D>): tf.Tensor1D;
  /** A state of the layer, a row for each row in flight. */
  state(slot: number): tf.Tensor2D;
}

export interface Mixer {
  /** In the order of `shapes`. */
  readonly linears: readonly Linear[];
  readonly others: readonly Parameter[];
  /** x [N, D] → same */
  run(x: tf.Tensor2D, pass: Pass): tf.Tensor2D;
  /** What `run` does of one token a row, as a backend's list of kernels takes it; null: it has no ops for that. */
  step(step: Step): DecodeMixer | null;
}

/** A kind of mixer. Numbers are of one layer. */
export interface MixerKind<M extends Mixer = Mixer> {
  /** Its tensors, in a file's usual order. */
  shapes(config: ModelConfig): readonly (readonly [name: string, shape: readonly number[]])[];
  assemble(config: ModelConfig, parts: Parts): M;
  /** Keys and values of a token; 0: it keeps states instead. */
  tokenFloats(config: ModelConfig): number;
  /** Widths of what it keeps of a sequence of any length. */
  stateWidths(config: ModelConfig): readonly number[];
  /** Floats of a token that the gradient keeps, besides the layer's own. */
  activationFloats(config: ModelConfig): number;
  /** Floats of a token while the gradient is in the layer, beyond what every op has; none: 0. */
  passingFloats?(config: ModelConfig): number;
  /** Floats of a token while a pass without a gradient is in the layer, besides the layer's own. */
  workingFloats(config: ModelConfig): number;
}

/** What a decoding step below tfjs is made of, and the kernels that a backend brings for it. */
import type * as tf from '@tensorflow/tfjs-core';
import type { DecayWeights, GatedDeltaShape } from './gated-delta.ts';
import type { RopeTables } from './rope.ts';

// B rows in flight.

/** y = x·weightᵀ (+ bias) (+ scaling · (x·aᵀ)·bᵀ). */
export interface DecodeLinear {
  readonly weight: tf.Tensor2D;
  readonly bias: tf.Tensor1D | null;
  readonly lora: { readonly a: tf.Tensor2D; readonly b: tf.Tensor2D } | null;
}

/** As `causalConvolution` takes them. */
export interface ConvolutionWeights {
  readonly weight: tf.Tensor;
  readonly bias: tf.Tensor1D | null;
  readonly silu: boolean;
}

/** Of a buffer the columns from `first` on, in lines of `line` numbers. */
export interface Columns<Buffer> {
  readonly of: Buffer;
  readonly line: number;
  readonly first: number;
}

/** What becomes of columns: a, a · b, σ(a) · b. */
export type ColumnsOp = 'copy' | 'multiply' | 'gate';

/** Of the delta rule's step; mixed [B, 2·keyHeads·K + valueHeads·V], a and b [B, valueHeads] → out [B, valueHeads·V]. */
export interface DeltaBuffers<Buffer> {
  readonly mixed: Buffer;
  readonly a: Buffer;
  readonly b: Buffer;
  readonly out: Buffer;
}

/** A backend's kernels on buffers of B rows. */
export interface DecodeKernels<Buffer> {
  buffer(columns: number): Buffer;
  /** y = norm(x), of x + change where there is one, which x then is. */
  norm(x: Buffer, weight: tf.Tensor1D, change: Buffer | null, y: Buffer): void;
  linear(x: Buffer, layer: DecodeLinear, y: Buffer): void;
  /** The norm of each head of x [B, columns], as wide as the weight, in place. */
  headNorm(x: Buffer, columns: number, weight: tf.Tensor1D): void;
  /** RoPE of each head of x [B, columns], in place. */
  rope(x: Buffer, columns: number, tables: RopeTables): void;
  /** Attention over the caches at a place among those of the layers, to which k and v are added. */
  attention(place: number, q: Buffer, k: Buffer, v: Buffer, out: Buffer): void;
  /** gate = silu(gate) · up, [B, columns] each. */
  swiglu(gate: Buffer, up: Buffer, columns: number): void;
  /** out, lines of `width`, of which `lines` are a row, of such columns of a and b. */
  columns(
    op: ColumnsOp,
    width: number,
    lines: number,
    a: Columns<Buffer>,
    b: Columns<Buffer> | null,
    out: Buffer,
  ): void;
  /** A token of a causal convolution, x → y; the rows' states [B, …] move on. */
  convolution(weights: ConvolutionWeights, states: tf.Tensor2D, x: Buffer, y: Buffer): void;
  deltaRule(shape: GatedDeltaShape, weights: DecayWeights, states: tf.Tensor2D, buffers: DeltaBuffers<Buffer>): void;
}

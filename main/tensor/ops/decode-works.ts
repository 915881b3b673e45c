/** The ops of a decoding step below tfjs as a profile reports them, as if they were those of tfjs. */
import type * as tf from '@tensorflow/tfjs-core';
import type { KernelWork } from '../op-costs.ts';
import type { AttentionShape } from './attention.ts';
import type { ColumnsOp, DecodeLinear } from './decode-kernels.ts';
import type { GatedDeltaShape } from './gated-delta.ts';
import type { RopeTables } from './rope.ts';

/** The rows of a step: of each the slot, and its prompt's start and length. */
export type SlotTable = readonly number[];

const info = (...shape: number[]): tf.TensorInfo => ({ dataId: {}, shape, dtype: 'float32' });

/** An op that treats rows one by one; `more` is what it reads beside them. */
export function rowsWork(name: string, rows: number, width: number, ...more: readonly tf.TensorInfo[]): KernelWork {
  const inputs = Object.fromEntries([info(rows, width), ...more].map((tensor, i) => [`x${i}`, tensor]));
  return { name, inputs, outputs: [info(rows, width)], attrs: {}, values: () => [] };
}

/** A norm, with the addition before it where there is one. */
export function normWorks(rows: number, weight: tf.Tensor1D, adds: boolean): KernelWork[] {
  const norm = rowsWork('RmsNorm', rows, weight.size, weight);
  return adds ? [pairWork('Add', rows, weight.size), norm] : [norm];
}

/** RoPE of queries and keys, as an op each, of so many heads. */
export function ropeWork(rows: number, heads: readonly number[], { cos, sin }: RopeTables): KernelWork {
  const all = heads.reduce((sum, each) => sum + each, 0);
  return rowsWork('Rope', rows, 2 * cos.shape[1] * all, ...heads.flatMap(() => [cos, sin]));
}

/** The sum or the product of two matrices of one size. */
export function pairWork(name: string, rows: number, width: number): KernelWork {
  return rowsWork(name, rows, width, info(rows, width));
}

/** A linear layer, with its bias. */
export function linearWorks(rows: number, { weight, bias, lora }: DecodeLinear): KernelWork[] {
  const product = productWork(rows, weight, lora);
  return bias === null ? [product] : [product, rowsWork('Add', rows, weight.shape[0], bias)];
}

/** x·Wᵀ, with an adapter where there is one. */
export function productWork(rows: number, weight: tf.Tensor2D, lora: DecodeLinear['lora'] = null): KernelWork {
  const [out, width] = weight.shape;
  const outputs = [info(rows, out)];
  if (lora === null) {
    const inputs = { a: info(rows, width), b: info(out, width) };
    return { name: 'BatchMatMul', inputs, outputs, attrs: { transposeB: true }, values: () => [] };
  }
  const inputs = { x: info(rows, width), weight: info(out, width), a: lora.a, b: lora.b };
  return { name: 'LoraLinear', inputs, outputs, attrs: {}, values: () => [] };
}

/** Attention of these rows at their positions. */
export function attentionWork(shape: AttentionShape, table: SlotTable, positions: ArrayLike<number>): KernelWork {
  const rows = table.length / 3;
  const out = info(rows, shape.numHeads * shape.headDim);
  const inputs = { q: out, rows: { ...info(rows, 3), dtype: 'int32' as const } };
  const values = (input: string): ArrayLike<number> => (input === 'rows' ? table : positions);
  return { name: 'DecodeAttention', inputs, outputs: [out], attrs: { ...shape }, values };
}

const COLUMNS: Readonly<Record<ColumnsOp, string>> = { copy: 'Slice', multiply: 'Multiply', gate: 'SigmoidGate' };

export function columnsWork(op: ColumnsOp, rows: number, width: number): KernelWork {
  return op === 'copy' ? rowsWork(COLUMNS[op], rows, width) : pairWork(COLUMNS[op], rows, width);
}

/** A token of a causal convolution, weight [D, 1, taps]. */
export function convolutionWork(rows: number, weight: tf.Tensor): KernelWork {
  const [channels = 0, , taps = 0] = weight.shape;
  const inputs = { x: info(rows, channels), weight, bias: info(channels), states: info(rows, (taps - 1) * channels) };
  return { name: 'CausalConvolutionStep', inputs, outputs: [info(rows, channels)], attrs: {}, values: () => [] };
}

/** A token of the gated delta rule. */
export function deltaWork(rows: number, shape: GatedDeltaShape): KernelWork {
  const { keyHeads, valueHeads, keyDim, valueDim } = shape;
  const [gates, weights] = [info(rows, valueHeads), info(valueHeads)];
  const mixed = info(rows, 2 * keyHeads * keyDim + valueHeads * valueDim);
  const states = info(rows, valueHeads * keyDim * valueDim);
  const inputs = { mixed, a: gates, b: gates, timeBias: weights, decay: weights, states };
  const outputs = [info(rows, valueHeads * valueDim)];
  return { name: 'GatedDeltaStep', inputs, outputs, attrs: { ...shape }, values: () => [] };
}

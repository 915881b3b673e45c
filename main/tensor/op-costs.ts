/**
 * What a kernel's work costs at the least: floating-point operations, and bytes that it must read and write when
 * nothing is in a cache. A multiplication and an addition count as two operations.
 */
import type { DataType, NamedAttrMap, TensorInfo } from '@tensorflow/tfjs-core';

export interface Work {
  readonly flop: number;
  readonly bytes: number;
}

/** One call of a kernel. `values` reads a small whole-number input, as tables of segments are. */
export interface KernelWork {
  readonly name: string;
  readonly inputs: Readonly<Record<string, TensorInfo>>;
  readonly outputs: readonly TensorInfo[];
  readonly attrs: NamedAttrMap;
  values(input: string): ArrayLike<number>;
}

/** Kernels that only give a tensor another shape. */
const FREE: ReadonlySet<string> = new Set(['Identity', 'Reshape', 'ExpandDims']);

const BYTES: Readonly<Record<DataType, number>> = { float32: 4, int32: 4, bool: 1, complex64: 8, string: 0 };

/** The least work of a call. */
export function workOf(call: KernelWork): Work {
  if (FREE.has(call.name)) return { flop: 0, bytes: 0 };
  return { flop: flopOf(call), bytes: bytesOf(call) };
}

/** The sizes that tell products of one kind apart, as "in → out"; an empty text for other work. */
export function sizesOf({ name, inputs, attrs }: Pick<KernelWork, 'name' | 'inputs' | 'attrs'>): string {
  const shape = (input: string): readonly number[] => inputs[input]?.shape ?? [];
  if (name.startsWith('LoraLinear')) {
    const { rank, from, to } = adaptedSizes(shape);
    return name === 'LoraLinearGradLow' ? `${to} → ${rank}` : `${from} → ${to}`;
  }
  if (!isProduct(name)) return '';
  const { inner, columns } = productSizes(shape('a'), shape('b'), attrs);
  return `${inner} → ${columns}`;
}

/** Of a layer under an adapter: x [N, from], dy [N, to], weight [to, from], a [rank, from], b [to, rank]. */
function adaptedSizes(shape: (input: string) => readonly number[]): { rank: number; from: number; to: number } {
  const [a, b] = [shape('a'), shape('b')];
  return { rank: a[0] ?? b[1] ?? 0, from: a[1] ?? 0, to: shape('weight')[0] ?? shape('dy')[1] ?? 0 };
}

function isProduct(name: string): boolean {
  return name === 'BatchMatMul' || name === '_FusedMatMul';
}

function flopOf(call: KernelWork): number {
  const { name, inputs, attrs } = call;
  const shape = (input: string): readonly number[] => inputs[input]?.shape ?? [];
  if (isProduct(name)) {
    const { inner } = productSizes(shape('a'), shape('b'), attrs);
    return 2 * inner * sum(call.outputs, sizeOf);
  }
  switch (name) {
    case 'LoraLinear':
    case 'LoraLinearGradLow':
    case 'LoraLinearGradX':
    case 'LoraLinearGradAdapter': {
      const { rank, from, to } = adaptedSizes(shape);
      const rows = (shape('x')[0] ?? shape('dy')[0]) as number;
      const terms = {
        LoraLinear: from * to + rank * (from + to),
        LoraLinearGradLow: rank * to,
        LoraLinearGradX: (to + rank) * from,
        LoraLinearGradAdapter: rank * (2 * from + to),
      };
      return 2 * rows * terms[name];
    }
    case 'PackedAttention':
    case 'PackedAttentionGrad': {
      // Scores and their product with the values; backward computes scores again, and four more products.
      const { numHeads, headDim } = attrs as unknown as { numHeads: number; headDim: number };
      const products = name === 'PackedAttention' ? 2 : 5;
      return 2 * products * numHeads * headDim * visiblePairs(call.values('segments'));
    }
    case 'DecodeAttention': {
      const { numHeads, headDim } = attrs as unknown as { numHeads: number; headDim: number };
      return 4 * numHeads * headDim * decodeReads(call).pairs;
    }
    case 'GatedDelta':
    case 'GatedDeltaGrad':
    case 'GatedDeltaStep': {
      // What is read of the state, what reads it, and what is written to it; backward computes two of them again, and six.
      const { valueHeads, keyDim, valueDim } = attrs as unknown as Record<'valueHeads' | 'keyDim' | 'valueDim', number>;
      const products = name === 'GatedDeltaGrad' ? 8 : 3;
      return 2 * products * (shape('mixed')[0] ?? 0) * valueHeads * keyDim * valueDim;
    }
    case 'StateSpaceStep': {
      const { heads, stateDim, headDim } = attrs as unknown as Record<'heads' | 'stateDim' | 'headDim', number>;
      return 4 * (shape('mixed')[0] ?? 0) * heads * stateDim * headDim;
    }
    case 'CausalConvolution':
    case 'CausalConvolutionGrad':
    case 'CausalConvolutionStep':
      // weight [D, 1, taps]
      return (name === 'CausalConvolutionGrad' ? 4 : 2) * size(shape('x')) * (shape('weight')[2] ?? 0);
    case 'SelectiveLogSoftmax':
    case 'SelectiveLogSoftmaxGrad': {
      // hidden [N, D], weight [V, D]; backward computes the logits again unless they were kept, or on native the
      // probabilities in place of the log-sum-exps.
      const [rows = 0, width = 0] = shape('hidden');
      const [vocabulary = 0] = shape('weight');
      const { needHidden, needWeight } = attrs as unknown as { needHidden?: boolean; needWeight?: boolean };
      const kept = inputs.logits !== undefined || shape('lse').length === 2;
      const products = (kept ? 0 : 1) + (needHidden === true ? 1 : 0) + (needWeight === true ? 1 : 0);
      return 2 * products * rows * width * vocabulary;
    }
    case 'Sum':
    case 'Max':
    case 'Mean':
    case 'SumSquares':
    case 'SampleRows':
      return sum(Object.values(inputs), sizeOf);
    case 'AdamW':
      return 12 * size(shape('param'));
    case 'GatherRows':
    case 'Concat':
    case 'Slice':
    case 'Transpose':
    case 'Fill':
      return 0;
    default:
      return sum(call.outputs, sizeOf);
  }
}

function bytesOf(call: KernelWork): number {
  const { name, inputs, outputs } = call;
  const written = sum(outputs, bytesOfTensor);
  switch (name) {
    case 'GatherRows':
    case 'GatherV2':
      // Only the rows that are picked are read.
      return 2 * written;
    case 'Slice':
      return 2 * written;
    case 'DecodeAttention':
      return decodeReads(call).bytes + bytesOfTensor(inputs.q) + written;
    case 'AdamW':
      // Reads parameter, moments and gradient; writes all but the gradient, in place.
      return 7 * bytesOfTensor(inputs.param);
    case 'AddInPlace':
      return 2 * bytesOfTensor(inputs.target) + bytesOfTensor(inputs.x);
    default:
      return sum(Object.values(inputs), bytesOfTensor) + written;
  }
}

/** Pairs of a query and a key of packed attention: the prefix, and the own segment causally. */
function visiblePairs(segments: ArrayLike<number>): number {
  let pairs = 0;
  for (let s = 0; s + 3 < segments.length; s += 4) {
    const [length, prefix] = [segments[s + 1] as number, segments[s + 3] as number];
    pairs += length * prefix + (length * (length + 1)) / 2;
  }
  return pairs;
}

/** Of a decoding step: pairs of a row and a key, and bytes of the caches; a prompt that rows share is read once. */
function decodeReads({ inputs, attrs, values }: KernelWork): { readonly pairs: number; readonly bytes: number } {
  const { numKvHeads, headDim } = attrs as unknown as { numKvHeads: number; headDim: number };
  const [rows, positions] = [values('rows'), values('positions')];
  const prompts = new Map<number, number>();
  let own = 0;
  let pairs = 0;
  for (let r = 0; r + 2 < rows.length; r += 3) {
    const [start, length, position] = [rows[r + 1], rows[r + 2], positions[r / 3]] as [number, number, number];
    prompts.set(start, length);
    own += position + 1 - length;
    pairs += position + 1;
  }
  const tokens = own + [...prompts.values()].reduce((a, b) => a + b, 0);
  return { pairs, bytes: 2 * tokens * numKvHeads * headDim * 4 + bytesOfTensor(inputs.rows) };
}

function productSizes(a: readonly number[], b: readonly number[], attrs: NamedAttrMap) {
  const inner = a.at(attrs.transposeA === true ? -2 : -1) ?? 0;
  const columns = b.at(attrs.transposeB === true ? -2 : -1) ?? 0;
  return { inner, columns };
}

function bytesOfTensor(tensor: TensorInfo | undefined): number {
  return tensor === undefined ? 0 : sizeOf(tensor) * BYTES[tensor.dtype];
}

function sizeOf({ shape }: TensorInfo): number {
  return size(shape);
}

function size(shape: readonly number[]): number {
  return shape.reduce((product, n) => product * n, 1);
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

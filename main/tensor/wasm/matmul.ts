/** BatchMatMul and _FusedMatMul for the wasm backend on our matrix product instead of tfjs's. */
import {
  BatchMatMul,
  type BatchMatMulAttrs,
  type backend_util,
  broadcast_util,
  getKernel,
  type KernelFunc,
  type NamedAttrMap,
  type NamedTensorInfoMap,
  type TensorInfo,
} from '@tensorflow/tfjs-core';
import { inputError } from '../../errors.ts';
import { gemm } from './gemm.ts';
import { registerWasmKernel, tensorInput, type WasmRuntime } from './runtime.ts';

/** Puts our matrix product under tf.matMul, its gradients and tf.fused.matMul. */
export function registerMatMul(runtime: WasmRuntime): void {
  registerWasmKernel(BatchMatMul, ({ inputs, attrs }) => {
    const { transposeA, transposeB } = attrs as unknown as BatchMatMulAttrs;
    return batchMatMul(runtime, tensorInput(inputs, 'a'), tensorInput(inputs, 'b'), transposeA, transposeB);
  });
  registerWasmKernel('_FusedMatMul', fusedMatMul(runtime));
}

/** a·b over the last two dimensions, the leading ones broadcast against each other. */
function batchMatMul(
  runtime: WasmRuntime,
  a: TensorInfo,
  b: TensorInfo,
  transposeA: boolean,
  transposeB: boolean,
): TensorInfo {
  if (a.dtype !== 'float32' || b.dtype !== 'float32') {
    throw inputError('UNSUPPORTED_DTYPE', `Expected float32 operands for matMul, got ${a.dtype} and ${b.dtype}`);
  }
  const [aRows, aColumns] = matrixShape(a);
  const [bRows, bColumns] = matrixShape(b);
  const [m, k] = transposeA ? [aColumns, aRows] : [aRows, aColumns];
  const [bDepth, n] = transposeB ? [bColumns, bRows] : [bRows, bColumns];
  if (k !== bDepth) {
    throw inputError('SHAPE_MISMATCH', `Expected equal inner sizes for matMul, got [${a.shape}] and [${b.shape}]`);
  }
  const batchShape = broadcast_util.assertAndGetBroadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2));
  const { heap } = runtime;
  return heap.allOrNone(() => {
    const out = heap.output([...batchShape, m, n], 'float32');
    const { at, isHalf: bIsHalf } = heap.matrix(b);
    const operands = {
      m,
      n,
      k,
      a: heap.pointer(a),
      b: at,
      bIsHalf,
      c: heap.pointer(out),
      cRow: n,
      ...(transposeA ? { aRow: 1, aCol: m } : { aRow: k, aCol: 1 }),
      ...(transposeB ? { bRow: 1, bCol: k } : { bRow: n, bCol: 1 }),
    };
    for (const run of batchRuns(a.shape, b.shape, batchShape)) {
      gemm(runtime, {
        ...operands,
        a: operands.a + 4 * m * k * run.aFirst,
        b: operands.b + (bIsHalf ? 2 : 4) * k * n * run.bFirst,
        c: operands.c + 4 * m * n * run.first,
        batch: run.count,
        aBatch: run.aShared ? 0 : m * k,
        bBatch: run.bShared ? 0 : k * n,
      });
    }
    return out;
  });
}

function matrixShape({ shape }: TensorInfo): [rows: number, columns: number] {
  const [rows, columns] = shape.slice(-2);
  if (rows === undefined || columns === undefined) {
    throw inputError('SHAPE_MISMATCH', `Expected a matrix for matMul, got shape [${shape}]`);
  }
  return [rows, columns];
}

/** Contiguous output items whose operands are contiguous too, or shared. */
interface BatchRun {
  readonly first: number;
  readonly count: number;
  readonly aFirst: number;
  readonly bFirst: number;
  readonly aShared: boolean;
  readonly bShared: boolean;
}

function batchRuns(aShape: readonly number[], bShape: readonly number[], batchShape: readonly number[]): BatchRun[] {
  const count = sizeOf(batchShape);
  const aCount = sizeOf(aShape.slice(0, -2));
  const bCount = sizeOf(bShape.slice(0, -2));
  if ((aCount === count || aCount === 1) && (bCount === count || bCount === 1)) {
    const shared = { aShared: aCount === 1, bShared: bCount === 1 };
    return [{ first: 0, count, aFirst: 0, bFirst: 0, ...shared }];
  }
  // Dimensions that broadcast both ways are rare: one product per item.
  return Array.from({ length: count }, (_, first) => ({
    first,
    count: 1,
    aShared: false,
    bShared: false,
    aFirst: broadcastIndex(first, batchShape, aShape.slice(0, -2)),
    bFirst: broadcastIndex(first, batchShape, bShape.slice(0, -2)),
  }));
}

/** Where item `index` of the broadcast shape comes from in an operand of shape `from`. */
function broadcastIndex(index: number, shape: readonly number[], from: readonly number[]): number {
  let rest = index;
  let stride = 1;
  let result = 0;
  for (let back = 1; back <= shape.length; back++) {
    const size = shape.at(-back) ?? 1;
    const own = back <= from.length ? (from.at(-back) ?? 1) : 1;
    if (own > 1) result += (rest % size) * stride;
    rest = Math.floor(rest / size);
    stride *= own;
  }
  return result;
}

function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

const activationKernels: Record<string, string> = {
  relu: 'Relu',
  relu6: 'Relu6',
  elu: 'Elu',
  sigmoid: 'Sigmoid',
  prelu: 'Prelu',
  leakyrelu: 'LeakyRelu',
};

/** The product, then bias and activation by their own kernels: we have no path where fusing them would pay off. */
function fusedMatMul(runtime: WasmRuntime): KernelFunc {
  return ({ inputs, attrs, backend }) => {
    const { bias, preluActivationWeights } = inputs;
    const { transposeA, transposeB, activation, leakyreluAlpha } = (attrs ?? {}) as unknown as FusedAttrs;
    const release = (info: TensorInfo) => runtime.backend.disposeData(info.dataId);
    const then = (kernel: string, x: TensorInfo, more: NamedTensorInfoMap, options: NamedAttrMap = {}) => {
      let result: TensorInfo | null = null;
      try {
        result = getKernel(kernel, 'wasm').kernelFunc({ inputs: more, attrs: options, backend }) as TensorInfo;
        return result;
      } finally {
        if (result?.dataId !== x.dataId) release(x);
      }
    };
    let out = batchMatMul(runtime, tensorInput(inputs, 'a'), tensorInput(inputs, 'b'), transposeA, transposeB);
    if (bias) out = then('Add', out, { a: out, b: bias });
    if (!activation || activation === 'linear') return out;
    const kernel = activationKernels[activation];
    if (!kernel) throw inputError('UNSUPPORTED_ACTIVATION', `tf.fused.matMul has no activation "${activation}"`);
    const weights: NamedTensorInfoMap = preluActivationWeights ? { alpha: preluActivationWeights } : {};
    return then(kernel, out, { x: out, ...weights }, { alpha: leakyreluAlpha });
  };
}

interface FusedAttrs {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
  readonly activation: backend_util.Activation;
  readonly leakyreluAlpha: number;
}

/** tfjs's products, and linear layers under an adapter, in terms of product.ts. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { LoraAttrs } from '../../ops/lora-linear.ts';
import type { WebGpuBackend } from '../backend.ts';
import { type Register, sizeOf } from '../kernel.ts';
import { binary, unary } from './elementwise.ts';
import { type Matrix, matrixOf } from './matrix.ts';
import { product } from './product.ts';

interface MatMulAttrs {
  readonly transposeA?: boolean;
  readonly transposeB?: boolean;
}

interface FusedAttrs extends MatMulAttrs {
  readonly activation?: string | null;
}

const matrix = (backend: WebGpuBackend, tensor: TensorInfo, transposed = false): Matrix =>
  matrixOf(backend, tensor, transposed);

/** a [batch…, m, k] · b [batch…, k, n], times `scale`; a batch of one serves the other's whole batch. */
function batchMatMul(
  backend: WebGpuBackend,
  a: TensorInfo,
  b: TensorInfo,
  { transposeA = false, transposeB = false }: MatMulAttrs,
  scale?: number,
): TensorInfo {
  const [batchA, batchB] = [batchOf(a), batchOf(b)];
  if (batchA !== batchB && batchA !== 1 && batchB !== 1)
    throw new Error(`Expected equal batches or a batch of one, got [${a.shape}] and [${b.shape}]`);
  const batch = Math.max(batchA, batchB);
  const left: Matrix = { ...matrix(backend, a, transposeA), batchStride: stride(a, batchA) };
  const right: Matrix = { ...matrix(backend, b, transposeB), batchStride: stride(b, batchB) };
  const [inner, other] = [transposeA ? left.lines : left.length, transposeB ? right.length : right.lines];
  if (inner !== other) throw new Error(`Expected equal inner dimensions, got [${a.shape}] and [${b.shape}]`);
  const m = transposeA ? left.length : left.lines;
  const n = transposeB ? right.lines : right.length;
  const leading = (batchA >= batchB ? a : b).shape.slice(0, -2);
  const out = backend.output([...leading, m, n]);
  if (inner === 0) backend.gpu.clear(backend.buffer(out), 0, Math.max(4, sizeOf(out)));
  else product(backend, left, right, backend.buffer(out), { batch, ...(scale !== undefined && { scale }) });
  return out;
}

const batchOf = ({ shape }: TensorInfo): number => shape.slice(0, -2).reduce((product, size) => product * size, 1);

const stride = (tensor: TensorInfo, batch: number): number => (batch === 1 ? 0 : sizeOf(tensor) / batch);

export function registerMatMul(register: Register): void {
  register<MatMulAttrs>('BatchMatMul', ({ backend, input, attrs }) =>
    batchMatMul(backend, input('a'), input('b'), attrs),
  );
  register<FusedAttrs>('_FusedMatMul', ({ backend, input, attrs }) => {
    let out = batchMatMul(backend, input('a'), input('b'), attrs);
    const replace = (next: TensorInfo): void => {
      backend.release(out);
      out = next;
    };
    const bias = optional(input, 'bias');
    if (bias !== null) replace(binary(backend, 'Add', out, bias));
    if (attrs.activation === 'relu') replace(unary(backend, 'Relu', out));
    else if (attrs.activation != null && attrs.activation !== 'linear')
      throw new Error(`Expected relu or no activation, got ${attrs.activation}`);
    return out;
  });
}

function optional(input: (name: string) => TensorInfo, name: string): TensorInfo | null {
  try {
    return input(name);
  } catch {
    return null;
  }
}

export function registerLoraLinear(register: Register): void {
  register<LoraAttrs>('LoraLinear', ({ backend, input, attrs }) => {
    const [x, weight, a, b] = ['x', 'weight', 'a', 'b'].map(input) as [TensorInfo, TensorInfo, TensorInfo, TensorInfo];
    const low = batchMatMul(backend, x, a, { transposeB: true }); // [N, r]
    const out = backend.output([x.shape[0] ?? 0, weight.shape[0] ?? 0]);
    product(backend, matrix(backend, x), matrix(backend, weight, true), backend.buffer(out), {
      second: { a: matrix(backend, low), b: matrix(backend, b, true), scale: attrs.scaling },
    });
    backend.release(low);
    return out;
  });
  register<LoraAttrs>('LoraLinearGradLow', ({ backend, input, attrs }) =>
    batchMatMul(backend, input('dy'), input('b'), {}, attrs.scaling),
  );
  register('LoraLinearGradX', ({ backend, input }) => {
    const [dy, weight] = [input('dy'), input('weight')];
    const out = backend.output([dy.shape[0] ?? 0, weight.shape[1] ?? 0]);
    product(backend, matrix(backend, dy), matrix(backend, weight), backend.buffer(out), {
      second: { a: matrix(backend, input('dLow')), b: matrix(backend, input('a')), scale: 1 },
    });
    return out;
  });
  register<LoraAttrs>('LoraLinearGradAdapter', ({ backend, input, attrs }) => {
    const x = input('x');
    const dA = batchMatMul(backend, input('dLow'), x, { transposeA: true });
    const low = batchMatMul(backend, x, input('a'), { transposeB: true }); // [N, r]
    const dB = batchMatMul(backend, input('dy'), low, { transposeA: true }, attrs.scaling);
    backend.release(low);
    return [dA, dB];
  });
}

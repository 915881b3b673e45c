/**
 * Matrix products. TensorFlow's CPU product of a few rows by a large transposed matrix runs at half the speed of the
 * same product the other way round, whose small result is then transposed.
 */
import { asFloat, type Handle, maths, type Ops } from '../ops.ts';
import type { Register } from './kernel.ts';

interface Attrs {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

/** Measured on AVX2: below these rows and above this size of the matrix the exchange pays. */
const FEW_ROWS = 128;
const LARGE = 2 ** 18;

export function registerMatMul(register: Register): void {
  register<Attrs>('BatchMatMul', (ops, inputs, { transposeA, transposeB }) => {
    const [a, b] = [asFloat(ops, inputs.handle('a')), asFloat(ops, inputs.handle('b'))];
    if (a.shape.length === 2 && !transposeA && transposeB) return linearProduct(ops, a, b);
    return maths(ops).batchMatMul(a, b, transposeA, transposeB);
  });
}

/** x·Wᵀ for x [N, in] and W [out, in]. */
export function linearProduct(ops: Ops, x: Handle, w: Handle): Handle {
  const { matMul, reshape, transpose } = maths(ops);
  const [rows = 0] = x.shape;
  const [out = 0, width = 0] = w.shape;
  const exchanged = !ops.backend.isUsingGpuDevice && rows < FEW_ROWS && out * width >= LARGE;
  if (!exchanged) return matMul(x, w, false, true);
  const product = matMul(w, x, false, true); // [out, N]
  return rows === 1 ? reshape(product, [1, out]) : transpose(product, [1, 0]);
}

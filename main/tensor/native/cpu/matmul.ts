import { roundsProducts } from '../../compute-dtype.ts';
import type { ProductAttrs } from '../../ops/weight-product.ts';
import type { Handle } from '../ops.ts';
import type { RegisterCpu } from './kernel.ts';
import { type Call, matrixSize } from './kernel.ts';

/** Products of two matrices; what has more axes is left to TensorFlow. */
export function registerMatMul(register: RegisterCpu): void {
  register<ProductAttrs>(
    'BatchMatMul',
    (call) => {
      const [a, b] = [call.input('a'), call.weight('b')];
      const [aRows, aColumns] = matrixSize('a', a);
      const [bRows, bColumns] = matrixSize('b', b);
      const { transposeA, transposeB } = call.attrs;
      const out = call.output([transposeA ? aColumns : aRows, transposeB ? bRows : bColumns]);
      multiply(call, a, b, out, call.attrs);
      return out;
    },
    ({ a, b }) => a?.shape.length === 2 && b?.shape.length === 2,
  );
}

interface ProductOptions extends ProductAttrs {
  readonly alpha?: number;
  /** A second pair of factors, whose product is added: [m, r], and [n, r] or [r, n] as b is transposed or not. */
  readonly low?: readonly [Handle, Handle];
}

/** out = alpha·a·b; one of weights in the run's compute_dtype, the second pair of factors always in float32. */
export function multiply(
  call: Pick<Call<unknown>, 'run'>,
  a: Handle,
  b: Handle,
  out: Handle,
  { transposeA, transposeB, ofWeights = false, alpha = 1, low }: ProductOptions,
): void {
  const tensors = { a, b, out, lowA: low?.[0], lowB: low?.[1] };
  call.run('product', tensors, { transposeA, transposeB, alpha, bfloat16: ofWeights && roundsProducts() });
}

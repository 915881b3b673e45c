import { BFLOAT16, type Handle } from '../ops.ts';
import { type Call, matrixSize } from './kernel.ts';
import type { RegisterCpu } from './register.ts';

interface Attrs {
  readonly transposeA: boolean;
  readonly transposeB: boolean;
}

/** Products of two matrices; what has more axes is left to TensorFlow. */
export function registerMatMul(register: RegisterCpu): void {
  register<Attrs>(
    'BatchMatMul',
    (call) => {
      const [a, b] = [call.input('a'), call.weight('b')];
      const [m, k] = turned(matrixSize('a', a), call.attrs.transposeA);
      const [depth, n] = turned(matrixSize('b', b), call.attrs.transposeB);
      if (depth !== k) throw new RangeError(`Expected equal inner sizes, got [${a.shape}] and [${b.shape}]`);
      const out = call.output([m, n]);
      multiply(call, a, b, out, call.attrs);
      return out;
    },
    ({ a, b }) => a?.shape.length === 2 && b?.shape.length === 2,
  );
}

function turned([rows, columns]: readonly [number, number], transposed: boolean): readonly [number, number] {
  return transposed ? [columns, rows] : [rows, columns];
}

interface ProductOptions extends Attrs {
  readonly alpha?: number;
  readonly accumulate?: boolean;
  /** A second pair of factors, plain and turned, whose product is added. */
  readonly more?: readonly [Handle, Handle];
}

/** out = alpha·a·b, or out += alpha·a·b, of matrices whose sizes fit. */
export function multiply(
  call: Pick<Call<unknown>, 'run'>,
  a: Handle,
  b: Handle,
  out: Handle,
  { transposeA, transposeB, alpha = 1, accumulate = false, more }: ProductOptions,
): void {
  const [m, n] = matrixSize('out', out);
  const [aRows, aColumns] = matrixSize('a', a);
  const [, bColumns] = matrixSize('b', b);
  const strides = (columns: number, transposed: boolean): readonly number[] =>
    transposed ? [1, columns] : [columns, 1];
  call.run(
    'product',
    [a, b, out, ...(more ?? [])],
    [
      ...[m, n, transposeA ? aRows : aColumns],
      ...[...strides(aColumns, transposeA), ...strides(bColumns, transposeB), n],
      ...[alpha, accumulate ? 1 : 0, b.dtype === BFLOAT16 ? 1 : 0, more?.[0].shape[1] ?? 0],
    ],
  );
}

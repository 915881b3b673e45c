import { asFloat, maths } from '../ops.ts';
import { hostInts, type Register } from './kernel.ts';

/** GatherRows and its gradient. TensorFlow's gather takes no -1; its sum of segments leaves -1 out by itself. */
export function registerRows(register: Register): void {
  register('GatherRows', (ops, inputs) => {
    const { gather, mul } = maths(ops);
    const x = inputs.handle('x');
    const indices = hostInts(ops, inputs.info('indices'));
    if (indices.every((index) => index >= 0)) return asFloat(ops, gather(x, inputs.handle('indices')));
    const rows = asFloat(ops, gather(x, ops.ints(indices.map((index) => Math.max(index, 0)))));
    const present = Float32Array.from(indices, (index) => (index < 0 ? 0 : 1));
    return mul(rows, ops.floats(present, [present.length, 1]));
  });
  register<{ rows: number }>('ScatterAddRows', (ops, inputs, { rows }) =>
    maths(ops).segmentSum(inputs.handle('dy'), inputs.handle('indices'), rows),
  );
}

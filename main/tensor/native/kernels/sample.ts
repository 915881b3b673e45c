/**
 * Sampling by inverting the cumulative sum of the softmax, in two steps: the sums of blocks of the vocabulary come to
 * the host, which picks a block a row; then only those blocks come. A cumulative sum over the whole vocabulary is slow
 * on every device, and so is bringing it all.
 */
import { FLOAT, type Handle, INT32, maths, type Ops, typeAttr } from '../ops.ts';
import type { Register } from './kernel.ts';

// B rows, V vocabulary, W width of a block, K blocks.

export function registerSample(register: Register): void {
  register<{ temperature: number }>('SampleRows', (ops, inputs, { temperature }) => {
    const logits = inputs.handle('logits');
    return temperature === 0 ? greedy(ops, logits) : invert(ops, logits, inputs.handle('uniforms'), temperature);
  });
}

/** The first maximum of each row and its log-probability. */
function greedy(ops: Ops, logits: Handle): readonly Handle[] {
  const t = typeAttr(ops.backend, 'T', FLOAT);
  const outputType = typeAttr(ops.backend, 'output_type', INT32);
  const ids = ops.run('ArgMax', [logits, ops.ints([1], [])], [t, typeAttr(ops.backend, 'Tidx', INT32), outputType]);
  const labels = typeAttr(ops.backend, 'Tlabels', INT32);
  const [loss] = ops.runMany('SparseSoftmaxCrossEntropyWithLogits', [logits, ids], [t, labels], 2) as [Handle, Handle];
  return [ids, maths(ops).neg(loss)];
}

function invert(ops: Ops, logits: Handle, uniforms: Handle, temperature: number): readonly Handle[] {
  const { gather, mul, reshape, softmax, sum } = maths(ops);
  const { binding } = ops.backend;
  const [rows = 0, vocabulary = 0] = logits.shape;
  const width = Math.ceil(Math.sqrt(vocabulary));
  const blocks = Math.ceil(vocabulary / width);
  const p = softmax(temperature === 1 ? logits : mul(logits, ops.scalar(1 / temperature)));
  const blocked = reshape(pad(ops, p, blocks * width - vocabulary), [rows * blocks, width]);
  const sums = binding.tensorDataSync(sum(blocked, 1, false).id); // [B*K]
  const u = binding.tensorDataSync(uniforms.id);
  const picked = Array.from({ length: rows }, (_, row) => {
    const own = sums.subarray(row * blocks, (row + 1) * blocks);
    return { row, ...pick(own, (u[row] ?? 0) * total(own)) };
  });
  const chosen = gather(blocked, ops.ints(picked.map(({ row, index }) => row * blocks + index))); // [B, W]
  const values = binding.tensorDataSync(chosen.id);
  const places = picked.map(({ row, index, left }) => {
    const own = values.subarray(row * width, (row + 1) * width);
    const at = pick(own, left).index;
    return { id: index * width + at, logp: Math.log(own[at] ?? 0) };
  });
  const logps = Float32Array.from(places, ({ logp }) => logp);
  return [ops.ints(places.map(({ id }) => id)), ops.floats(logps, [rows])];
}

function pad(ops: Ops, x: Handle, columns: number): Handle {
  if (columns === 0) return x;
  const attrs = [typeAttr(ops.backend, 'T', FLOAT), typeAttr(ops.backend, 'Tpaddings', INT32)];
  return ops.run('Pad', [x, ops.ints([0, 0, 0, columns], [2, 2])], attrs);
}

function total(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] ?? 0;
  return sum;
}

/** The first place where the running sum exceeds `target`, and what is left of it there; never a place of weight 0. */
function pick(values: ArrayLike<number>, target: number): { readonly index: number; readonly left: number } {
  let left = target;
  let last = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0;
    if (value <= 0) continue;
    if (left < value) return { index: i, left };
    last = i;
    left -= value;
  }
  return { index: last, left: Number.POSITIVE_INFINITY };
}

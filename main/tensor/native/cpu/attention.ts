import type { AttentionShape } from '../../ops/attention.ts';
import type { Handle } from '../ops.ts';
import { expectShape, matrixSize } from './kernel.ts';
import type { RegisterCpu } from './register.ts';

// N tokens, S segments, H query heads, K key/value heads, d head_dim.

export function registerAttention(register: RegisterCpu): void {
  register<AttentionShape>('PackedAttention', (call) => {
    const [q, k, v, segments] = [call.input('q'), call.input('k'), call.input('v'), call.input('segments')];
    const [n] = matrixSize('q', q);
    const [count] = matrixSize('segments', segments);
    checkHeads(call.attrs, n, q.shape, k.shape, v.shape);
    const [out, lse] = [call.output(q.shape), call.output([n, call.attrs.numHeads])];
    call.run('attention', [q, k, v, segments, out, lse], [count, ...sizes(call.attrs)]);
    return [out, lse];
  });
  register<AttentionShape>('PackedAttentionGrad', (call) => {
    const names = ['dy', 'q', 'k', 'v', 'out', 'lse', 'segments'] as const;
    const [dy, q, k, v, out, lse, segments] = names.map((name) => call.input(name)) as SevenHandles;
    const [n] = matrixSize('q', q);
    const [count] = matrixSize('segments', segments);
    checkHeads(call.attrs, n, q.shape, k.shape, v.shape);
    for (const given of [dy, out]) expectShape('dy and out', given, q.shape);
    const outputs = [q, k, v].map(({ shape }) => call.output(shape));
    call.run('attentionGrad', [dy, q, k, v, out, lse, ...outputs, segments], [count, n, ...sizes(call.attrs)]);
    return outputs;
  });
  register<AttentionShape & { step: number }>('DecodeAttention', (call) => {
    const names = ['q', 'k', 'v', 'prefixK', 'prefixV', 'ownK', 'ownV', 'rows'] as const;
    const inputs = names.map((name) => call.input(name));
    const [q, k, , , , ownK] = inputs as SevenHandles;
    const [batch] = matrixSize('q', q);
    const { step } = call.attrs;
    const [slots = 0, capacity = 0] = ownK.shape;
    expectShape('k', k, [batch, call.attrs.numKvHeads * call.attrs.headDim]);
    if (step >= capacity) throw new RangeError(`Expected a step below the cache's capacity ${capacity}, got ${step}`);
    if (batch > slots) throw new RangeError(`Expected at most ${slots} rows, got ${batch}`);
    const out = call.output(q.shape);
    call.run('decodeAttention', [...inputs, out], [batch, capacity, step, ...sizes(call.attrs)]);
    return out;
  });
}

type SevenHandles = [Handle, Handle, Handle, Handle, Handle, Handle, Handle];

function sizes({ numHeads, numKvHeads, headDim, scale }: AttentionShape): readonly number[] {
  return [numHeads, numKvHeads, headDim, scale];
}

function checkHeads(
  { numHeads, numKvHeads, headDim }: AttentionShape,
  n: number,
  q: readonly number[],
  k: readonly number[],
  v: readonly number[],
): void {
  const expected = [n * numHeads * headDim, n * numKvHeads * headDim, n * numKvHeads * headDim];
  const got = [q, k, v].map((shape) => shape.reduce((a, b) => a * b, 1));
  if (got.every((size, i) => size === expected[i]) && numHeads % numKvHeads === 0) return;
  throw new RangeError(`Expected q, k and v of ${expected.join(', ')} numbers, got ${got.join(', ')}`);
}

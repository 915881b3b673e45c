/**
 * Packed attention for the native backend: blocks of the plan as batched products, the group's prompt read once for
 * all its completions. The gradient computes the probabilities again.
 */
import type { Tensor, TensorInfo } from '@tensorflow/tfjs-core';
import type { AttentionShape } from '../../ops/attention.ts';
import { type Handle, maths, type Ops } from '../ops.ts';
import { type AttentionBlock, MAX_SCORES, planAttention } from './attention-plan.ts';
import { hostInts, type Register } from './kernel.ts';

// N tokens, H query heads, K key/value heads, R = H / K, d head_dim; P, G, T, L of a block as in attention-plan.ts.

export function registerAttention(register: Register): void {
  const plan = planOf();
  register<AttentionShape>('PackedAttention', (ops, inputs, shape) => {
    const [q, k, v] = ['q', 'k', 'v'].map((name) => inputs.handle(name)) as [Handle, Handle, Handle];
    const blocks = plan(ops, inputs.info('segments'), shape);
    const outputs = blocks.map(
      (block) => ops.part(() => ({ out: forwardBlock(ops, block, shape, q, k, v) })).out, // [P*G*T, H*d]
    );
    // The second output is what other backends keep for the gradient.
    return [scatter(ops, blocks, outputs, q.shape), ops.floats(new Float32Array(1), [1])];
  });
  register<AttentionShape>('PackedAttentionGrad', (ops, inputs, shape) => {
    const names = ['dy', 'q', 'k', 'v', 'out'] as const;
    const [dy, q, k, v, out] = names.map((name) => inputs.handle(name)) as [Handle, Handle, Handle, Handle, Handle];
    const blocks = plan(ops, inputs.info('segments'), shape);
    const found = blocks.map((block) => ops.part(() => gradBlock(ops, block, shape, { dy, q, k, v, out })));
    const dq = scatter(
      ops,
      blocks,
      found.map((part) => part.dq),
      q.shape,
    );
    return [
      dq,
      sumRows(ops, blocks, found, 'dk', 'dPrefixK', k.shape),
      sumRows(ops, blocks, found, 'dv', 'dPrefixV', v.shape),
    ];
  });
}

/** The plan of a segment table, remembered: all layers share it. */
function planOf() {
  let known: { readonly dataId: object; readonly heads: number; readonly blocks: readonly AttentionBlock[] } | null =
    null;
  return (ops: Ops, segments: TensorInfo, { numHeads }: AttentionShape): readonly AttentionBlock[] => {
    const { dataId } = segments as Tensor;
    if (known?.dataId !== dataId || known.heads !== numHeads)
      known = { dataId, heads: numHeads, blocks: planAttention(hostInts(ops, segments), numHeads, MAX_SCORES) };
    return known.blocks;
  };
}

/** A block's queries, keys and values, each laid out for batched products. */
interface Parts {
  /** [P*K, G*R*T, d] against the prefix; the same memory as [P*K*G, R*T, d] against own keys. */
  readonly q: Handle;
  readonly k: Handle; // [P*K*G, T, d]
  readonly v: Handle;
  readonly prefixK: Handle | null; // [P*K, L, d]
  readonly prefixV: Handle | null;
}

function partsOf(ops: Ops, block: AttentionBlock, shape: AttentionShape, q: Handle, k: Handle, v: Handle): Parts {
  const { prompts, prefix } = block;
  const { numKvHeads, headDim } = shape;
  const prefixOf = (x: Handle): Handle | null => {
    if (prefix === 0) return null;
    const { reshape, transpose } = maths(ops);
    const rows = reshape(take(ops, x, block.prefixRows), [prompts, prefix, numKvHeads, headDim]);
    return reshape(transpose(rows, [0, 2, 1, 3]), [prompts * numKvHeads, prefix, headDim]);
  };
  return {
    q: queryLayout(ops, block, shape, q),
    k: keyLayout(ops, block, shape, k),
    v: keyLayout(ops, block, shape, v),
    prefixK: prefixOf(k),
    prefixV: prefixOf(v),
  };
}

/** Rows of x by number; padding takes row 0. */
function take(ops: Ops, x: Handle, rows: Int32Array): Handle {
  return maths(ops).gather(x, ops.ints(rows.map((row) => Math.max(row, 0))));
}

/** [N, H*d] → [P*K, G*R*T, d] */
function queryLayout(ops: Ops, block: AttentionBlock, shape: AttentionShape, x: Handle): Handle {
  return rowsInQueryLayout(ops, block, shape, take(ops, x, block.rows));
}

/** [P*G*T, H*d] → [P*K, G*R*T, d] */
function rowsInQueryLayout(
  ops: Ops,
  { prompts, group, tokens }: AttentionBlock,
  { numHeads, numKvHeads, headDim }: AttentionShape,
  rows: Handle,
): Handle {
  const { reshape, transpose } = maths(ops);
  const per = numHeads / numKvHeads;
  const split = reshape(rows, [prompts, group, tokens, numKvHeads, per, headDim]);
  return reshape(transpose(split, [0, 3, 1, 4, 2, 5]), [prompts * numKvHeads, group * per * tokens, headDim]);
}

/** The inverse: [P*K, G*R*T, d] → [P*G*T, H*d] */
function fromQueryLayout(
  ops: Ops,
  { prompts, group, tokens }: AttentionBlock,
  shape: AttentionShape,
  x: Handle,
): Handle {
  const { reshape, transpose } = maths(ops);
  const { numHeads, numKvHeads, headDim } = shape;
  const split = reshape(x, [prompts, numKvHeads, group, numHeads / numKvHeads, tokens, headDim]);
  return reshape(transpose(split, [0, 2, 4, 1, 3, 5]), [prompts * group * tokens, numHeads * headDim]);
}

/** [N, K*d] → [P*K*G, T, d] */
function keyLayout(
  ops: Ops,
  { prompts, group, tokens, rows }: AttentionBlock,
  shape: AttentionShape,
  x: Handle,
): Handle {
  const { reshape, transpose } = maths(ops);
  const { numKvHeads, headDim } = shape;
  const split = reshape(take(ops, x, rows), [prompts, group, tokens, numKvHeads, headDim]);
  return reshape(transpose(split, [0, 3, 1, 2, 4]), [prompts * numKvHeads * group, tokens, headDim]);
}

/** The inverse: [P*K*G, T, d] → [P*G*T, K*d] */
function fromKeyLayout(ops: Ops, { prompts, group, tokens }: AttentionBlock, shape: AttentionShape, x: Handle): Handle {
  const { reshape, transpose } = maths(ops);
  const { numKvHeads, headDim } = shape;
  const split = reshape(x, [prompts, numKvHeads, group, tokens, headDim]);
  return reshape(transpose(split, [0, 2, 3, 1, 4]), [prompts * group * tokens, numKvHeads * headDim]);
}

/** [P*K, L, d] → [P*L, K*d] */
function fromPrefixLayout(ops: Ops, { prompts, prefix }: AttentionBlock, shape: AttentionShape, x: Handle): Handle {
  const { reshape, transpose } = maths(ops);
  const { numKvHeads, headDim } = shape;
  const split = reshape(x, [prompts, numKvHeads, prefix, headDim]);
  return reshape(transpose(split, [0, 2, 1, 3]), [prompts * prefix, numKvHeads * headDim]);
}

/** Probabilities over prefix and own keys, [P, K*G*R, T, L+T]. */
function probabilities(ops: Ops, block: AttentionBlock, shape: AttentionShape, { q, k, prefixK }: Parts): Handle {
  const { add, mul, reshape, softmax } = maths(ops);
  const { prompts, tokens, prefix } = block;
  return ops.part(() => {
    const joined = products(ops, block, shape, mul(q, ops.scalar(shape.scale)), k, prefixK);
    const masked = add(joined, ops.floats(block.mask, [prompts, 1, tokens, prefix + tokens]));
    ops.free(joined);
    return { p: softmax(reshape(masked, joined.shape)) };
  }).p;
}

/** Rows times prefix keys and own keys, side by side: [P, K*G*R, T, L+T]. */
function products(
  ops: Ops,
  block: AttentionBlock,
  shape: AttentionShape,
  rows: Handle,
  own: Handle,
  shared: Handle | null,
): Handle {
  const { batchMatMul, concat, reshape } = maths(ops);
  const { prompts, group, tokens, prefix } = block;
  const { numHeads, numKvHeads, headDim } = shape;
  const heads = group * numHeads;
  return ops.part(() => {
    const alone = reshape(rows, [prompts * numKvHeads * group, (numHeads / numKvHeads) * tokens, headDim]);
    const byOwn = reshape(batchMatMul(alone, own, false, true), [prompts, heads, tokens, tokens]);
    if (shared === null) return { joined: byOwn };
    const byPrefix = reshape(batchMatMul(rows, shared, false, true), [prompts, heads, tokens, prefix]);
    return { joined: concat([byPrefix, byOwn], 3) };
  }).joined;
}

/** A matrix [P, K*G*R, T, L+T] cut into its prefix part [P*K, G*R*T, L] and its own part [P*K*G, R*T, T]. */
function cut(ops: Ops, block: AttentionBlock, shape: AttentionShape, x: Handle) {
  const { reshape, splitSizes } = maths(ops);
  const { prompts, group, tokens, prefix } = block;
  const { numHeads, numKvHeads } = shape;
  const per = numHeads / numKvHeads;
  const ownShape = [prompts * numKvHeads * group, per * tokens, tokens];
  if (prefix === 0) return { shared: null, own: reshape(x, ownShape) };
  const [shared, own] = splitSizes(x, [prefix, tokens], 3) as [Handle, Handle];
  return { shared: reshape(shared, [prompts * numKvHeads, group * per * tokens, prefix]), own: reshape(own, ownShape) };
}

/** The sum of two parts' products, matrix.own · own + matrix.shared · shared, in query layout. */
function combine(
  ops: Ops,
  matrix: { readonly shared: Handle | null; readonly own: Handle },
  own: Handle,
  shared: Handle | null,
  shape: readonly number[],
): Handle {
  const { add, batchMatMul, reshape } = maths(ops);
  const fromOwn = reshape(batchMatMul(matrix.own, own), shape);
  if (matrix.shared === null || shared === null) return fromOwn;
  return add(fromOwn, batchMatMul(matrix.shared, shared));
}

/** Attention outputs of a block, [P*G*T, H*d]. */
function forwardBlock(ops: Ops, block: AttentionBlock, shape: AttentionShape, q: Handle, k: Handle, v: Handle): Handle {
  const parts = partsOf(ops, block, shape, q, k, v);
  const p = probabilities(ops, block, shape, parts);
  const probs = cut(ops, block, shape, p);
  ops.free(p);
  return fromQueryLayout(ops, block, shape, combine(ops, probs, parts.v, parts.prefixV, parts.q.shape));
}

type BlockGradients = {
  readonly dq: Handle; // [P*G*T, H*d]
  readonly dk: Handle; // [P*G*T, K*d]
  readonly dv: Handle;
  readonly dPrefixK: Handle | null; // [P*L, K*d]
  readonly dPrefixV: Handle | null;
};

interface GradInputs {
  readonly dy: Handle;
  readonly q: Handle;
  readonly k: Handle;
  readonly v: Handle;
  readonly out: Handle;
}

/** dS = P ∘ (dO·Vᵀ − rowsum(dO ∘ O)) · scale (as FlashAttention's backward pass, Dao et al. 2022). */
function gradBlock(ops: Ops, block: AttentionBlock, shape: AttentionShape, given: GradInputs): BlockGradients {
  const { batchMatMul, mul, reshape, sub } = maths(ops);
  const { prompts, group, tokens } = block;
  const parts = partsOf(ops, block, shape, given.q, given.k, given.v);
  const p = probabilities(ops, block, shape, parts);
  const dOut = rowsInQueryLayout(ops, block, shape, withoutPadding(ops, block.rows, take(ops, given.dy, block.rows)));
  const delta = rowDots(ops, dOut, queryLayout(ops, block, shape, given.out));
  const dP = products(ops, block, shape, dOut, parts.v, parts.prefixV);
  const difference = sub(dP, reshape(delta, [prompts, group * shape.numHeads, tokens, 1]));
  ops.free(dP);
  const unscaled = mul(p, difference);
  ops.free(difference);
  const dS = mul(unscaled, ops.scalar(shape.scale));
  ops.free(unscaled);
  const [probs, dScores] = [cut(ops, block, shape, p), cut(ops, block, shape, dS)];
  ops.free(p);
  ops.free(dS);
  const ownRows = (x: Handle): Handle =>
    reshape(x, [prompts * shape.numKvHeads * group, (shape.numHeads / shape.numKvHeads) * tokens, shape.headDim]);
  const own = (matrix: Handle, x: Handle): Handle =>
    fromKeyLayout(ops, block, shape, batchMatMul(matrix, ownRows(x), true, false));
  const shared = (matrix: Handle | null, x: Handle): Handle | null =>
    matrix === null ? null : fromPrefixLayout(ops, block, shape, batchMatMul(matrix, x, true, false));
  return {
    dq: fromQueryLayout(ops, block, shape, combine(ops, dScores, parts.k, parts.prefixK, parts.q.shape)),
    dk: own(dScores.own, parts.q),
    dv: own(probs.own, dOut),
    dPrefixK: shared(dScores.shared, parts.q),
    dPrefixV: shared(probs.shared, dOut),
  };
}

/** Σ a·b of each row, in one pass over both. */
function rowDots(ops: Ops, a: Handle, b: Handle): Handle {
  const { batchMatMul, reshape } = maths(ops);
  const width = a.shape.at(-1) ?? 0;
  const rows = a.shape.reduce((x, y) => x * y, 1) / width;
  return batchMatMul(reshape(a, [rows, 1, width]), reshape(b, [rows, 1, width]), false, true);
}

/** Padding took a real row's gradient: it must add nothing to keys and values. */
function withoutPadding(ops: Ops, rows: Int32Array, x: Handle): Handle {
  if (rows.every((row) => row >= 0)) return x;
  const present = Float32Array.from(rows, (row) => (row < 0 ? 0 : 1));
  return maths(ops).mul(x, ops.floats(present, [rows.length, 1]));
}

/** Rows of all blocks back in the packed order: every token is a query in one block. */
function scatter(
  ops: Ops,
  blocks: readonly AttentionBlock[],
  parts: readonly Handle[],
  shape: readonly number[],
): Handle {
  const { concat, gather } = maths(ops);
  const place = new Int32Array(shape[0] ?? 0);
  let at = 0;
  for (const { rows } of blocks) {
    rows.forEach((row, i) => {
      if (row >= 0) place[row] = at + i;
    });
    at += rows.length;
  }
  return gather(concat(parts, 0), ops.ints(place));
}

/** Gradients of keys or values: a token's own block adds to what the blocks that have it in their prefix found. */
function sumRows(
  ops: Ops,
  blocks: readonly AttentionBlock[],
  found: readonly BlockGradients[],
  own: 'dk' | 'dv',
  shared: 'dPrefixK' | 'dPrefixV',
  shape: readonly number[],
): Handle {
  const { concat, segmentSum } = maths(ops);
  const handles: Handle[] = [];
  const numbers: Int32Array[] = [];
  blocks.forEach((block, i) => {
    const part = found[i] as BlockGradients;
    handles.push(part[own]);
    numbers.push(block.rows);
    const prefix = part[shared];
    if (prefix === null) return;
    handles.push(prefix);
    numbers.push(block.prefixRows);
  });
  const ids = Int32Array.from(numbers.flatMap((list) => [...list]));
  return segmentSum(concat(handles, 0), ops.ints(ids), shape[0] ?? 0);
}

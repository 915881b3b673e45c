/**
 * Keys and values of a generation on the native backend. Rows of one prompt share its keys and values. What rows write
 * themselves lies in two parts: a recent one of up to 32 tokens that grows by copying, and a settled one that takes the
 * recent one over when it is full; so little is copied a step, and nothing is computed on empty places.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { AttentionShape } from '../ops/attention.ts';
import type { KvCache, PrefixKv, RowPrefix } from '../ops/kv-cache.ts';
import type { NativeBackend } from './binding.ts';
import { FLOAT, type Handle, INT32, maths, type Ops, toTensor, typeAttr, withOps } from './ops.ts';
import { type Slots, slotsOf } from './slots.ts';

// B rows, P prompts, S slots a prompt, K key/value heads, R query heads of each, d head_dim, L longest prompt, t tokens.

/** Tokens of the recent part. */
const RECENT = 32;

/** One layer's keys or values. */
interface Part {
  readonly prefix: Handle; // [P*K, L, d]
  readonly settled: Handle | null; // [P*S*K, t, d]
  readonly recent: Handle | null; // [P*S*K, t, d]
}

interface Layer {
  readonly k: Part;
  readonly v: Part;
}

/** Opens a cache, which takes the prompts' keys and values over. */
export function openNativeKvCache(
  backend: NativeBackend,
  prefix: readonly PrefixKv[],
  rows: readonly RowPrefix[],
  shape: AttentionShape,
): KvCache {
  let slots = slotsOf(rows);
  const layers: Layer[] = withOps(backend, (ops) => {
    const part = (x: tf.Tensor2D): Part => {
      const { prefix } = ops.part(() => ({ prefix: prefixLayout(ops, ops.of(x), slots, shape) }));
      return { prefix, settled: null, recent: null };
    };
    const made = prefix.map(({ k, v }) => {
      const layer = { k: part(k), v: part(v) };
      tf.dispose([k, v]);
      return layer;
    });
    // All or none: until here they are freed if memory runs out.
    made.flatMap(handlesOf).forEach(ops.keep);
    return made;
  });
  /** Puts a layer in the place of another, once all of it is there: what only the old one has is freed. */
  const replace = (ops: Ops, index: number, now: Layer): void => {
    const before = layers[index];
    const kept = handlesOf(now).map(ops.keep);
    layers[index] = now;
    if (before !== undefined)
      for (const handle of handlesOf(before)) if (!kept.includes(handle)) backend.binding.deleteTensor(handle.id);
  };
  return {
    attend: (layer, q, k, v, again = false) => {
      const before = layers[layer];
      if (before === undefined) throw new Error(`The cache has no layer ${layer}`);
      const info = withOps(backend, (ops) => {
        const grown = (): Layer => ({
          k: grow(ops, before.k, rowLayout(ops, ops.of(k), slots, shape)),
          v: grow(ops, before.v, rowLayout(ops, ops.of(v), slots, shape)),
        });
        const now = again ? before : grown();
        if (!again) replace(ops, layer, now);
        return toTensor(backend, ops.keep(attend(ops, ops.of(q), now, slots, shape)));
      });
      return tf.engine().makeTensorFromTensorInfo(info) as tf.Tensor2D;
    },
    advance: () => undefined,
    skip: (count) => {
      layers.forEach(({ k, v }, i) => {
        withOps(backend, (ops) => {
          const past = (part: Part): Part => {
            const length = count + (part.settled?.shape[1] ?? 0);
            return { ...part, settled: empty(ops, slots, shape, length) };
          };
          replace(ops, i, { k: past(k), v: past(v) });
        });
      });
    },
    keep: (kept) => {
      const { slots: next, taken } = slots.keep(kept);
      if (taken !== null) {
        layers.forEach(({ k, v }, i) => {
          withOps(backend, (ops) => {
            const left = (part: Part): Part => compact(ops, part, slots, taken, shape);
            replace(ops, i, { k: left(k), v: left(v) });
          });
        });
      }
      slots = next;
    },
    dispose: () => {
      for (const { id } of layers.splice(0).flatMap(handlesOf)) backend.binding.deleteTensor(id);
    },
  };
}

function handlesOf({ k, v }: Layer): Handle[] {
  return [k, v].flatMap((part) => [part.prefix, part.settled, part.recent]).filter((handle) => handle !== null);
}

/** The part with one more token. */
function grow(ops: Ops, part: Part, x: Handle): Part {
  const { concat } = maths(ops);
  if (part.recent === null) return { ...part, recent: x };
  if ((part.recent.shape[1] ?? 0) < RECENT) return { ...part, recent: concat([part.recent, x], 1) };
  const settled = part.settled === null ? part.recent : concat([part.settled, part.recent], 1);
  return { ...part, settled, recent: x };
}

/** Zeros in the place of `count` tokens of every slot. */
function empty(ops: Ops, slots: Slots, { numKvHeads, headDim }: AttentionShape, count: number): Handle {
  const places = slots.prompts.length * slots.perPrompt * numKvHeads;
  const attrs = [typeAttr(ops.backend, 'T', FLOAT), typeAttr(ops.backend, 'index_type', INT32)];
  return ops.run('Fill', [ops.ints([places, count, headDim]), ops.scalar(0)], attrs);
}

/** The prompts' rows [Np, K*d] padded to the longest: [P*K, L, d]. */
function prefixLayout(
  ops: Ops,
  x: Handle,
  { prompts, longest }: Slots,
  { numKvHeads, headDim }: AttentionShape,
): Handle {
  const { gather, reshape, transpose } = maths(ops);
  const rows = prompts.flatMap(({ start, length }) =>
    Array.from({ length: longest }, (_, i) => (i < length ? start + i : 0)),
  );
  const split = reshape(gather(x, ops.ints(rows)), [prompts.length, longest, numKvHeads, headDim]);
  return reshape(transpose(split, [0, 2, 1, 3]), [prompts.length * numKvHeads, longest, headDim]);
}

/** One token of every row [B, K*d] as a token of every slot: [P*S*K, 1, d]. */
function rowLayout(ops: Ops, x: Handle, slots: Slots, { numKvHeads, headDim }: AttentionShape): Handle {
  const { reshape } = maths(ops);
  return reshape(toSlots(ops, x, slots), [slots.prompts.length * slots.perPrompt * numKvHeads, 1, headDim]);
}

function toSlots(ops: Ops, x: Handle, { rowOfSlot, dense }: Slots): Handle {
  return dense ? x : maths(ops).gather(x, ops.ints(rowOfSlot.map((row) => Math.max(row, 0))));
}

/** q [B, H*d] → [B, H*d] */
function attend(ops: Ops, q: Handle, { k, v }: Layer, slots: Slots, shape: AttentionShape): Handle {
  const { add, batchMatMul, concat, gather, mul, reshape, softmax, splitSizes, transpose } = maths(ops);
  const { numHeads, numKvHeads, headDim, scale } = shape;
  const [p, s, per] = [slots.prompts.length, slots.perPrompt, numHeads / numKvHeads];
  const scaled = mul(toSlots(ops, q, slots), ops.scalar(scale));
  const alone = reshape(scaled, [p * s * numKvHeads, per, headDim]);
  // The rows of a prompt side by side for each head: one product with the prompt's keys.
  const byPrompt = (x: Handle, width: number): Handle =>
    reshape(transpose(reshape(x, [p, s, numKvHeads, per, width]), [0, 2, 1, 3, 4]), [p * numKvHeads, s * per, width]);
  const bySlot = (x: Handle, width: number): Handle =>
    reshape(transpose(reshape(x, [p, numKvHeads, s, per, width]), [0, 2, 1, 3, 4]), [p * s * numKvHeads, per, width]);
  const own = [k.settled, k.recent].flatMap((keys, i) =>
    keys === null ? [] : [{ keys, values: [v.settled, v.recent][i] }],
  );
  const shared = bySlot(batchMatMul(byPrompt(scaled, headDim), k.prefix, false, true), slots.longest);
  const masked = slots.mask === null ? shared : addMask(ops, shared, slots.mask, slots, shape);
  const scores = concat([masked, ...own.map(({ keys }) => batchMatMul(alone, keys, false, true))], 2);
  const widths = [slots.longest, ...own.map(({ keys }) => keys.shape[1] ?? 0)];
  const [onPrefix, ...onOwn] = splitSizes(softmax(scores), widths, 2) as [Handle, ...Handle[]];
  const parts = own.map(({ values }, i) => batchMatMul(onOwn[i] as Handle, values as Handle));
  const fromPrefix = bySlot(batchMatMul(byPrompt(onPrefix, slots.longest), v.prefix), headDim);
  const out = reshape(parts.reduce(add, fromPrefix), [p * s, numHeads * headDim]);
  return slots.dense ? out : gather(out, ops.ints(slots.slotOfRow));
}

/** Hides the padding of shorter prompts: scores [P*S*K, R, L], mask [P, L]. */
function addMask(ops: Ops, scores: Handle, mask: Float32Array, slots: Slots, { numHeads }: AttentionShape): Handle {
  const { add, reshape } = maths(ops);
  const p = slots.prompts.length;
  const split = reshape(scores, [p, slots.perPrompt * numHeads, slots.longest]);
  return reshape(add(split, ops.floats(mask, [p, 1, slots.longest])), scores.shape);
}

/** Continues with the slots and prompts that are left. */
function compact(
  ops: Ops,
  part: Part,
  { perPrompt, prompts }: Slots,
  taken: { readonly prompts: readonly number[]; readonly slots: readonly number[] },
  { numKvHeads }: AttentionShape,
): Part {
  const { gather, reshape } = maths(ops);
  const pick = (x: Handle, units: number, chosen: readonly number[]): Handle => {
    const [, length = 0, d = 0] = x.shape;
    const rows = reshape(x, [units, numKvHeads * length * d]);
    return reshape(gather(rows, ops.ints(chosen)), [chosen.length * numKvHeads, length, d]);
  };
  const own = (x: Handle | null): Handle | null =>
    x === null ? null : pick(x, prompts.length * perPrompt, taken.slots);
  return {
    prefix: pick(part.prefix, prompts.length, taken.prompts),
    settled: own(part.settled),
    recent: own(part.recent),
  };
}

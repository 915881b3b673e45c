/**
 * The gated delta rule over packed sequences (Yang et al. 2024, arXiv 2412.06464). A head's state S [K, V] decays with each
 * token, then is corrected by what it says of the token's key: S ← e^g S, S ← S + k β (v − kᵀS), o = qᵀS. Tokens are taken
 * 32 at a time, within which all corrections together are the solution of a triangular system (the "UT transform").
 *
 * N packed tokens, H heads, K and V widths of keys and values, S sequences, L chunks of the longest, C a chunk's tokens.
 */
import * as tf from '@tensorflow/tfjs-core';
import { inTurn, paddedPlaces, type Scanned, squareMask } from './padded-scan.ts';
import type { Cell, SequenceLayout } from './recurrence.ts';
import { gatherRows } from './rows.ts';

export interface DeltaShape {
  readonly heads: number;
  readonly keyDim: number;
  readonly valueDim: number;
}

const CHUNK = 32;

/** Inputs: q and k [N, H*K], v [N, H*V], the decay's logarithm and the strength [N, H]. State: H*K*V. */
export function deltaRule(shape: DeltaShape): Cell {
  return {
    packed: (inputs, layout, initial) =>
      inTurn(layout, inputs[0]?.shape[0] ?? 0, { initial, keepsStates: true }, (members, starts) =>
        scan(inputs, layout, members, starts, shape),
      ),
    step: (inputs, state) => step(inputs, state, shape),
  };
}

function step(
  [q, k, v, g, beta]: readonly (tf.Tensor2D | undefined)[],
  state: tf.Tensor2D,
  { heads, keyDim, valueDim }: DeltaShape,
): { out: tf.Tensor2D; state: tf.Tensor2D } {
  const [rows] = state.shape;
  const all = rows * heads;
  const perHead = (x: tf.Tensor2D | undefined, a: number, b: number): tf.Tensor3D =>
    tf.reshape(x as tf.Tensor2D, [all, a, b]);
  const decayed = tf.mul(perHead(state, keyDim, valueDim), tf.exp(perHead(g, 1, 1)));
  const keys = perHead(k, 1, keyDim);
  const said = tf.matMul(keys, decayed); // [B*H, 1, V]
  const correction = tf.mul(tf.sub(perHead(v, 1, valueDim), said), perHead(beta, 1, 1));
  const next = tf.add(decayed, tf.matMul(keys, correction as tf.Tensor3D, true, false)) as tf.Tensor3D;
  return {
    out: tf.reshape(tf.matMul(perHead(q, 1, keyDim), next), [rows, heads * valueDim]),
    state: tf.reshape(next, [rows, heads * keyDim * valueDim]),
  };
}

/** Some sequences beside each other, padded with tokens that change nothing. */
function scan(
  [q, k, v, g, beta]: readonly tf.Tensor2D[],
  layout: SequenceLayout,
  members: readonly number[],
  starts: tf.Tensor2D | null,
  { heads, keyDim, valueDim }: DeltaShape,
): Scanned {
  const longest = members.reduce((most, sequence) => Math.max(most, layout[sequence]?.length ?? 0), 1);
  const chunks = Math.ceil(longest / CHUNK);
  const each = chunks * CHUNK;
  const count = members.length;
  const all = count * heads;
  const places = tf.tensor1d(paddedPlaces(layout, members, each), 'int32');
  /** [N, H*d] → [S*H*L, C, d] */
  const chunked = (x: tf.Tensor2D | undefined, width: number): tf.Tensor3D => {
    const padded = tf.reshape(gatherRows(x as tf.Tensor2D, places), [count, each, heads, width]);
    return tf.reshape(tf.transpose(padded, [0, 2, 1, 3]), [all * chunks, CHUNK, width]);
  };
  const [queries, keys, values] = [chunked(q, keyDim), chunked(k, keyDim), chunked(v, valueDim)];
  const [logs, strength] = [chunked(g, 1), chunked(beta, 1)];
  const { lower, strict } = masks();
  const sums = tf.reshape(tf.matMul(tf.reshape(logs, [all * chunks, CHUNK]), lower, false, true), [
    all * chunks,
    CHUNK,
    1,
  ]); // the decay's logarithm since the chunk's beginning
  // From a later token's view of an earlier one: never more than 1.
  const apart = tf.mul(tf.sub(sums, tf.transpose(sums, [0, 2, 1])), strict);
  const between = tf.mul(tf.exp(apart), lower); // [S*H*L, C, C]
  const weak = tf.mul(keys, strength) as tf.Tensor3D;
  const system = tf.mul(tf.mul(tf.matMul(weak, keys, false, true), between), strict) as tf.Tensor3D;
  const solved = inverse(system);
  const since = tf.exp(sums);
  const fresh = tf.matMul(solved, tf.mul(values, strength) as tf.Tensor3D); // what the chunk writes by itself
  const old = tf.matMul(solved, tf.mul(weak, since) as tf.Tensor3D); // and what it reads of the state before
  const own = tf.mul(tf.matMul(queries, keys, false, true), between);
  const end = tf.slice(sums, [0, CHUNK - 1, 0], [all * chunks, 1, 1]);
  const left = tf.mul(keys, tf.exp(tf.sub(end, sums)));
  const byChunk = (x: tf.Tensor, a: number, b: number): tf.Tensor3D[] =>
    chunks === 1
      ? [tf.reshape(x, [all, a, b])]
      : (tf.split(tf.reshape(x, [all, chunks * a, b]), chunks, 1) as tf.Tensor3D[]);
  const steps = {
    fresh: byChunk(fresh, CHUNK, valueDim),
    old: byChunk(old, CHUNK, keyDim),
    read: byChunk(tf.mul(queries, since), CHUNK, keyDim),
    own: byChunk(own, CHUNK, CHUNK),
    left: byChunk(left, CHUNK, keyDim),
    end: byChunk(tf.exp(end), 1, 1),
  };
  let state: tf.Tensor3D | null = starts && tf.reshape(starts, [all, keyDim, valueDim]);
  const outputs: tf.Tensor3D[] = [];
  for (let c = 0; c < chunks; c++) {
    const at = (of: readonly tf.Tensor3D[]): tf.Tensor3D => of[c] as tf.Tensor3D;
    const written: tf.Tensor3D =
      state === null ? at(steps.fresh) : tf.sub(at(steps.fresh), tf.matMul(at(steps.old), state));
    const within: tf.Tensor3D = tf.matMul(at(steps.own), written);
    outputs.push(state === null ? within : (tf.add(within, tf.matMul(at(steps.read), state)) as tf.Tensor3D));
    const added: tf.Tensor3D = tf.matMul(at(steps.left), written, true, false);
    state = state === null ? added : tf.add(tf.mul(state, at(steps.end)), added);
  }
  const joined = outputs.length === 1 ? (outputs[0] as tf.Tensor3D) : tf.concat(outputs, 1); // [S*H, L*C, V]
  const byToken = tf.transpose(tf.reshape(joined, [count, heads, each, valueDim]), [0, 2, 1, 3]);
  return {
    out: tf.reshape(byToken, [count * each, heads * valueDim]),
    last: tf.reshape(state as tf.Tensor3D, [count, heads * keyDim * valueDim]),
    each,
  };
}

/** 1 where a token may see another: itself and those before, or only those before. [C, C] each */
function masks(): { readonly lower: tf.Tensor2D; readonly strict: tf.Tensor2D } {
  return { lower: mask((i, j) => j <= i), strict: mask((i, j) => j < i) };
}

function mask(is: (i: number, j: number) => boolean): tf.Tensor2D {
  return squareMask(CHUNK, is);
}

/** (I + A)⁻¹ for strictly lower triangular A, [M, C, C]: blocks of 2 from those of 1, of 4 from those of 2 … */
function inverse(system: tf.Tensor3D): tf.Tensor3D {
  const op = tf.customGrad((...args) => {
    const [a, save] = args as unknown as [tf.Tensor3D, tf.GradSaveFunc];
    const value = tf.tidy(() => blockInverse(a));
    save([value]);
    return {
      value,
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const [solved] = saved as [tf.Tensor3D];
        return tf.neg(tf.matMul(tf.matMul(solved, dy as tf.Tensor3D, true, false), solved, false, true));
      },
    };
  });
  return op(system) as tf.Tensor3D;
}

function blockInverse(a: tf.Tensor3D): tf.Tensor3D {
  let solved = tf.sub(
    mask((i, j) => i === j),
    tf.mul(a, belowBlocks(1)),
  ) as tf.Tensor3D;
  for (let size = 2; size < CHUNK; size *= 2) {
    const below = tf.mul(a, belowBlocks(size)) as tf.Tensor3D;
    solved = tf.sub(solved, tf.matMul(tf.matMul(solved, below), solved));
  }
  return solved;
}

/** 1 in the lower left quarter of each diagonal block of twice this size. */
function belowBlocks(size: number): tf.Tensor2D {
  return mask(
    (i, j) =>
      Math.floor(i / (2 * size)) === Math.floor(j / (2 * size)) && i % (2 * size) >= size && j % (2 * size) < size,
  );
}

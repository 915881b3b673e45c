/**
 * Mamba-2's state space (Dao and Gu 2024, arXiv 2405.21060) from what its projection and convolution give. A head's state
 * S [K, V] decays with each token and takes it in: S ← e^(δa) S + B (δ x)ᵀ, o = Cᵀ S + D x, with δ = log(1 + e^(dt +
 * timeBias)) between two limits and a = −e^decay. Heads of a group share B and C. Tokens are taken up to 64 at a time,
 * within which each sees the earlier ones as attention does, by the decays between them (the "state space duality").
 *
 * N packed tokens, G groups, H heads, K and V widths of B and of a head, P = H/G, W = P·V, S sequences, L chunks of the
 * longest, C a chunk's tokens, B rows in flight.
 */
import * as tf from '@tensorflow/tfjs-core';
import { keepingInputs } from '../gradient-checkpoint.ts';
import { runOp } from '../portable.ts';
import { inTurn, paddedPlaces, type Scanned, squareMask } from './padded-scan.ts';
import { type Cell, type SequenceLayout, softplus } from './recurrence.ts';
import { gatherRows } from './rows.ts';

export interface StateSpaceShape {
  readonly groups: number;
  /** A multiple of the groups, each of which serves as many in turn. */
  readonly heads: number;
  readonly stateDim: number;
  readonly headDim: number;
  /** Between which a token's step δ lies. */
  readonly limits: readonly [least: number, most: number];
}

/** What each head learns, [H]. */
export interface StateSpaceWeights {
  readonly timeBias: tf.Tensor1D;
  readonly decay: tf.Tensor1D;
  readonly skip: tf.Tensor1D;
}

/** Kernels take heads up to this width. */
const WIDEST = 4096;

/** Larger chunks cost more pairs of tokens, smaller ones more states. */
const CHUNK = 64;

/** Inputs: mixed [N, H·V + 2·G·K] of x, B and C, and dt [N, H]. State: G·K·W. Training starts from no state. */
export function stateSpace(shape: StateSpaceShape, { timeBias, decay, skip }: StateSpaceWeights): Cell {
  return {
    packed: (inputs, layout, initial, keepsStates) => {
      const [tokens = 0] = inputs[0]?.shape ?? [];
      const run = (given: readonly tf.Tensor[]) => {
        const parts = partsOf(given, shape);
        const how = { initial, keepsStates: keepsStates !== false };
        const { out, last } = inTurn(layout, tokens, how, (members, starts, keepsLast) =>
          scan(parts, { layout, members, starts, keepsLast }, shape),
        );
        return { out: tf.add(out, parts.skipped) as tf.Tensor2D, last };
      };
      const given = [...inputs, timeBias, decay, skip];
      if (keepsStates !== false) return run(given);
      return { out: keepingInputs((all) => run(all).out, given), last: tf.zeros([1, 1]) };
    },
    step: (inputs, states) => {
      if (!hasStepKernel(shape)) return step(partsOf([...inputs, timeBias, decay, skip], shape), states, shape);
      const [mixed, dt] = inputs as [tf.Tensor2D, tf.Tensor2D];
      const { groups, heads, stateDim, headDim } = shape;
      const given = { mixed, dt, timeBias, decay, skip, states };
      return { out: runOp('StateSpaceStep', given, { groups, heads, stateDim, headDim }), state: states };
    },
  };
}

/** Whether the backend has a kernel for such heads, which changes states in place: of whole vectors, and without limits. */
function hasStepKernel({ headDim, limits: [least, most] }: StateSpaceShape): boolean {
  const fits = headDim % 4 === 0 && headDim <= WIDEST && least <= 0 && most === Number.POSITIVE_INFINITY;
  return fits && tf.getKernel('StateSpaceStep', tf.getBackend()) !== undefined;
}

interface Parts {
  /** δ x, [N, H·V] */
  readonly values: tf.Tensor2D;
  /** B and C, [N, G·K] each */
  readonly keys: tf.Tensor2D;
  readonly queries: tf.Tensor2D;
  /** δ a, [N, H] */
  readonly logs: tf.Tensor2D;
  /** D x, [N, H·V] */
  readonly skipped: tf.Tensor2D;
}

function partsOf(given: readonly tf.Tensor[], { groups, heads, stateDim, headDim, limits }: StateSpaceShape): Parts {
  const [mixed, dt, timeBias, decay, skip] = given as [tf.Tensor2D, tf.Tensor2D, tf.Tensor, tf.Tensor, tf.Tensor];
  const shared = groups * stateDim;
  const [x, keys, queries] = tf.split(mixed, [heads * headDim, shared, shared], 1) as [
    tf.Tensor2D,
    tf.Tensor2D,
    tf.Tensor2D,
  ];
  const soft = softplus(tf.add(dt, timeBias));
  const [least, most] = limits;
  const steps = least <= 0 && most === Number.POSITIVE_INFINITY ? soft : tf.clipByValue(soft, least, most);
  const factors = tf.tile(tf.reshape(skip, [heads, 1]), [1, headDim]);
  return {
    values: eachHead(x, steps, headDim),
    ...{ keys, queries },
    logs: tf.neg(tf.mul(steps, tf.exp(decay))),
    skipped: tf.mul(x, tf.reshape(factors, [heads * headDim])),
  };
}

/** Each head of x times a number of its own: of [N, H·V] by [N, H]. */
function eachHead(x: tf.Tensor2D, by: tf.Tensor, width: number): tf.Tensor2D {
  return tf.reshape(tf.mul(tf.reshape(x, [-1, width]), tf.reshape(by, [-1, 1])), x.shape);
}

function step(
  { values, keys, queries, logs, skipped }: Parts,
  states: tf.Tensor2D,
  { groups, heads, stateDim, headDim }: StateSpaceShape,
): { out: tf.Tensor2D; state: tf.Tensor2D } {
  const [rows] = states.shape;
  const all = rows * groups;
  const width = (heads / groups) * headDim;
  const perGroup = (x: tf.Tensor, wide: number): tf.Tensor3D => tf.reshape(x, [all, 1, wide]);
  const decays = tf.tile(tf.reshape(tf.exp(logs), [rows * heads, 1]), [1, headDim]);
  const decayed = tf.mul(tf.reshape(states, [all, stateDim, width]), perGroup(decays, width));
  const written = tf.matMul(perGroup(keys, stateDim), perGroup(values, width), true, false);
  const next = tf.add(decayed, written) as tf.Tensor3D;
  const read = tf.reshape(tf.matMul(perGroup(queries, stateDim), next), [rows, heads * headDim]);
  return { out: tf.add(read, skipped), state: tf.reshape(next, states.shape) };
}

interface Asked {
  readonly layout: SequenceLayout;
  readonly members: readonly number[];
  readonly starts: tf.Tensor2D | null;
  /** Whether states after the sequences are asked for. */
  readonly keepsLast: boolean;
}

/** Some sequences beside each other, padded with tokens that change nothing. */
function scan(
  { values, keys, queries, logs }: Parts,
  { layout, members, starts, keepsLast }: Asked,
  { groups, heads, stateDim, headDim }: StateSpaceShape,
): Scanned {
  const longest = members.reduce((most, sequence) => Math.max(most, layout[sequence]?.length ?? 0), 1);
  const size = Math.min(CHUNK, longest);
  const chunks = Math.ceil(longest / size);
  const [each, count, share] = [chunks * size, members.length, heads / groups];
  const [all, width] = [count * groups, share * headDim];
  const places = tf.tensor1d(paddedPlaces(layout, members, each), 'int32');
  /** [N, G*w] → [S*G, L*C, w] */
  const byGroup = (x: tf.Tensor2D, wide: number): tf.Tensor3D =>
    tf.tidy(() => {
      const padded = tf.reshape(gatherRows(x, places), [count, each, groups, wide]);
      return tf.reshape(tf.transpose(padded, [0, 2, 1, 3]), [all, each, wide]);
    });
  const [b, c, x] = [byGroup(keys, stateDim), byGroup(queries, stateDim), byGroup(values, width)];
  // Numbers of a head's tokens lie beside each other: [S*G*L*P, C].
  const g = tf.tidy(() => {
    const byToken = tf.reshape(byGroup(logs, share), [all * chunks, size, share]);
    return tf.reshape(tf.transpose(byToken, [0, 2, 1]), [-1, size]) as tf.Tensor2D;
  });
  /** Numbers of a head's tokens, [S*G*L*P, C] → [S*G, L*C*P] */
  const byToken = (of: tf.Tensor): tf.Tensor2D =>
    tf.reshape(tf.transpose(tf.reshape(of, [all * chunks, share, size]), [0, 2, 1]), [all, each * share]);
  const { until, after } = masks(size);
  const squares = (of: tf.Tensor): tf.Tensor3D => tf.reshape(of, [-1, size, size]);
  // The decay's logarithm from each token to each later one, summed up for itself: differences of sums since the chunk's
  // beginning would lose what is small beside them. [S*G*L*P, C, C]
  const between = tf.tidy(() => {
    const one = tf.reshape(tf.mul(tf.reshape(g, [-1, 1, size]), after), [-1, size]) as tf.Tensor2D;
    return tf.mul(tf.exp(squares(tf.matMul(one, until))), until);
  });
  const within = tf.tidy(() => {
    const scores = tf.matMul(chunked(b, size), chunked(c, size), false, true); // [S*G*L, C, C]
    const shared = tf.reshape(scores, [all * chunks, 1, size * size]);
    const own = squares(tf.mul(tf.reshape(between, [all * chunks, share, size * size]), shared));
    const heads = tf.transpose(tf.reshape(x, [all * chunks, size, share, headDim]), [0, 2, 1, 3]);
    const read = tf.matMul(own, tf.reshape(heads, [-1, size, headDim]) as tf.Tensor3D, true, false);
    const byTokens = tf.transpose(tf.reshape(read, [all * chunks, share, size, headDim]), [0, 2, 1, 3]);
    return tf.reshape(byTokens, [all, each, width]) as tf.Tensor3D;
  });
  const since = tf.exp(tf.matMul(g, until));
  // What the chunks write that somebody reads.
  const writing = keepsLast ? chunks : chunks - 1;
  const write = (): tf.Tensor3D => {
    const part = <T extends tf.Tensor>(of: T, lines: number): T =>
      writing === chunks ? of : tf.slice(of, [0, 0], [-1, writing * lines]);
    const left = part(byToken(tf.slice(between, [0, 0, size - 1], [-1, size, 1])), size * share);
    const kept = eachHead(tf.reshape(part(x, size), [-1, headDim]), left, headDim);
    const own = tf.reshape(kept, [all * writing, size, width]) as tf.Tensor3D;
    return tf.matMul(chunked(part(b, size), size), own, true, false);
  };
  const added = writing === 0 ? null : tf.tidy(write);
  const decays = tf.tidy(() => {
    const last = tf.reshape(tf.slice(since, [0, size - 1], [-1, 1]), [-1, 1]);
    return tf.slice(tf.reshape(tf.tile(last, [1, headDim]), [all, chunks, width]), [0, 0, 0], [-1, writing, -1]);
  });
  const { before, state } = through(added, decays, starts, { all, chunks, writing, stateDim, width });
  // What the chunks read of the states before them: the first has none, where nothing was given.
  const skips = starts === null ? size : 0;
  const out = tf.tidy(() => {
    if (before === null) return within;
    const far = tf.matMul(chunked(tf.slice(c, [0, skips, 0], [-1, -1, -1]) as tf.Tensor3D, size), before);
    const decay = tf.slice(byToken(since), [0, skips * share], [-1, -1]);
    const seen = tf.reshape(eachHead(tf.reshape(far, [-1, headDim]), decay, headDim), [all, each - skips, width]);
    return tf.add(
      within,
      skips > 0
        ? tf.pad(seen, [
            [0, 0],
            [skips, 0],
            [0, 0],
          ])
        : seen,
    );
  });
  return {
    out: tf.tidy(() => {
      const byTokens = tf.transpose(tf.reshape(out, [count, groups, each, width]), [0, 2, 1, 3]);
      return tf.reshape(byTokens, [count * each, heads * headDim]) as tf.Tensor2D;
    }),
    last: keepsLast ? tf.reshape(state as tf.Tensor3D, [count, groups * stateDim * width]) : null,
    each,
  };
}

/** [S*G, L*C, w] → [S*G*L, C, w] */
function chunked(x: tf.Tensor3D, size: number): tf.Tensor3D {
  return tf.reshape(x, [-1, size, x.shape[2]]);
}

/**
 * The state through the chunks. added [S*G*L, K, W], decays [S*G, L, W] of those that write → the states before all chunks,
 * [S*G*L', K, W], of which the first is left out where nothing was before it, and the last one, [S*G, K, W].
 */
function through(
  added: tf.Tensor3D | null,
  decays: tf.Tensor,
  starts: tf.Tensor2D | null,
  { all, chunks, writing, stateDim, width }: Record<'all' | 'chunks' | 'writing' | 'stateDim' | 'width', number>,
): { readonly before: tf.Tensor3D | null; readonly state: tf.Tensor3D | null } {
  const apart = (of: tf.Tensor, lines: number): tf.Tensor3D[] =>
    writing === 1
      ? [tf.reshape(of, [all, lines, width])]
      : (tf.split(tf.reshape(of, [all, writing * lines, width]), writing, 1) as tf.Tensor3D[]);
  const each = added === null ? [] : apart(added, stateDim);
  const factors = added === null ? [] : apart(decays, 1);
  const first = starts && (tf.reshape(starts, [all, stateDim, width]) as tf.Tensor3D);
  const states: (tf.Tensor3D | null)[] = [first];
  each.forEach((own, at) => {
    const state = states[at] ?? null;
    const next = (): tf.Tensor3D => tf.add(tf.mul(state as tf.Tensor3D, factors[at] as tf.Tensor3D), own);
    states.push(state === null ? own : tf.tidy(next));
  });
  const before = states.slice(0, chunks).flatMap((state) => state ?? []);
  const joined = before.length < 2 ? (before[0] ?? null) : tf.concat(before, 1);
  return { before: joined && tf.reshape(joined, [-1, stateDim, width]), state: states.at(-1) ?? null };
}

/** [C, C] each: 1 from a token on, and 1 after it. */
function masks(size: number): { readonly until: tf.Tensor2D; readonly after: tf.Tensor2D } {
  return { until: squareMask(size, (i, j) => j >= i), after: squareMask(size, (i, j) => j > i) };
}

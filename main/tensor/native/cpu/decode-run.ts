/** A decoding step by calls of the addon's kernels on tensors that are made once: nothing of it passes through tfjs. */
import * as tf from '@tensorflow/tfjs-core';
import { pulse } from '../../../pulse.ts';
import { profiled } from '../../kernel-profile.ts';
import type { DecodeKernels, DecodeLinear } from '../../ops/decode-kernels.ts';
import { decodeBySteps, decodeLayers, type RowsStep } from '../../ops/decode-layers.ts';
import type { DecodeOps } from '../../ops/decode-list.ts';
import type { DecodeModel, DecodeRun } from '../../ops/decode-step.ts';
import { productWork, rowsWork, type SlotTable } from '../../ops/decode-works.ts';
import type { PrefixKv, RowPrefix } from '../../ops/kv-cache.ts';
import { type PlacedCache, placeCache } from '../../ops/placed-cache.ts';
import type { NativeBackend } from '../binding.ts';
import { boolAttr, FLOAT, type Handle, handleOf, INT32, maths, toTensor, typeAttr, withOps } from '../ops.ts';
import { headsOf } from './attention.ts';
import { ownMemoryOf } from './kernel.ts';
import { multiply } from './matmul.ts';
import { type KernelBinding, type KernelName, runKernel } from './run-kernel.ts';

const plain = { transposeA: false, transposeB: true } as const;

/** Opens a run over the prompts' keys and values. */
export function openNativeDecodeRun(
  backend: NativeBackend,
  binding: KernelBinding,
  model: DecodeModel,
  prefix: readonly PrefixKv[],
  prompts: readonly RowPrefix[],
  capacity: number,
  collectGarbage: () => void,
): DecodeRun {
  const cache = placeCache(prefix, prompts, capacity, model.shape, (shape) => zeros(backend, shape));
  const open = (rows: SlotTable): RowsStep => openStep(backend, binding, model, cache, rows);
  // The cache is made of zeros.
  const run = decodeBySteps(model, cache, capacity, open, () => undefined);
  const dispose = (): void => {
    run.dispose();
    collectGarbage();
  };
  return { ...run, dispose };
}

/** Zeros that never were an array of JavaScript's. */
function zeros(backend: NativeBackend, shape: readonly number[]): tf.Tensor {
  const info = withOps(backend, (ops) => {
    const attrs = [typeAttr(backend, 'dtype', FLOAT), boolAttr(backend, 'init', true)];
    return toTensor(backend, { ...ops.keep(ops.run('Empty', [ops.ints(shape)], attrs)), shape });
  });
  return tf.engine().makeTensorFromTensorInfo(info);
}

/** Tensors that a step owns. */
interface Owned {
  floats(shape: readonly number[]): Handle;
  of(values: Float32Array | Int32Array, shape: readonly number[]): Handle;
  /** The same numbers in another shape. */
  reshaped(handle: Handle, shape: readonly number[]): Handle;
  free(): void;
}

function openOwned(backend: NativeBackend, binding: KernelBinding): Owned {
  const ids: number[] = [];
  const own = (id: number, shape: readonly number[], dtype: number): Handle => {
    ids.push(id);
    return { id, shape, dtype };
  };
  return {
    floats: (shape) => own(binding.allocateTensor(shape, FLOAT), shape, FLOAT),
    of: (values, shape) => {
      const dtype = values instanceof Int32Array ? INT32 : FLOAT;
      return own(binding.createTensor(shape, dtype, values), shape, dtype);
    },
    reshaped: (handle, shape) => {
      const { id } = withOps(backend, (ops) => ops.keep(maths(ops).reshape(handle, shape)));
      return own(id, shape, handle.dtype);
    },
    free: () => {
      for (const id of ids.splice(0)) binding.deleteTensor(id);
    },
  };
}

function openStep(
  backend: NativeBackend,
  binding: KernelBinding,
  model: DecodeModel,
  cache: PlacedCache,
  table: SlotTable,
): RowsStep {
  const owned = openOwned(backend, binding);
  try {
    return makeStep(backend, binding, owned, model, cache, table);
  } catch (error) {
    owned.free();
    throw error;
  }
}

function makeStep(
  backend: NativeBackend,
  binding: KernelBinding,
  owned: Owned,
  model: DecodeModel,
  cache: PlacedCache,
  table: SlotTable,
): RowsStep {
  const rows = table.length / 3;
  const [, width] = model.embedding.shape;
  const [embedding, head] = [handleOf(backend, model.embedding), handleOf(backend, model.head)];
  const run: Run = (name, tensors, numbers) => runKernel(binding, name, tensors, numbers);
  const inputs: StepInputs = { positions: null, values: [] };
  const kernels = callKernels(backend, binding, owned, run, model, cache, table, inputs);
  // The layers, once for all steps: what a call needs besides its tensors is made when it first runs.
  const list: (() => void)[] = [];
  const ops: DecodeOps = {
    table,
    positions: () => inputs.values,
    op: (works, ...parts) => {
      const all = (): void => {
        for (const part of parts) part();
      };
      list.push(() => profiled(works, all));
    },
    begin: () => list.push(pulse),
  };
  const x = kernels.buffer(width);
  const hidden = decodeLayers(model, x, kernels, ops);
  const logitsOf = (from: Handle, count: number): tf.Tensor2D => {
    const logits = openOwned(backend, binding);
    try {
      const out = logits.floats([count, model.head.shape[0]]);
      profiled(
        () => [productWork(count, model.head)],
        () => multiply({ run }, from, head, out, { ...plain, ofWeights: true }),
      );
      return tf.engine().makeTensorFromTensorInfo(toTensor(backend, out)) as tf.Tensor2D;
    } catch (error) {
      logits.free();
      throw error;
    }
  };
  return {
    run: (ids, positions, wanted) => {
      const given = openOwned(backend, binding);
      try {
        const indices = given.of(Int32Array.from(ids), [rows]);
        inputs.positions = given.of(Int32Array.from(positions), [rows]);
        inputs.values = positions;
        profiled(
          () => [rowsWork('GatherRows', rows, width)],
          () => run('gatherRows', { x: embedding, indices, out: x }),
        );
        for (const op of list) op();
        if (wanted === undefined) return logitsOf(hidden, rows);
        const some = given.floats([wanted.length, width]);
        run('gatherRows', { x: hidden, indices: given.of(Int32Array.from(wanted), [wanted.length]), out: some });
        return logitsOf(some, wanted.length);
      } finally {
        given.free();
      }
    },
    free: owned.free,
  };
}

type Run = (
  name: KernelName,
  tensors: Readonly<Record<string, Handle | undefined>>,
  numbers?: Readonly<Record<string, number | boolean>>,
) => void;

/** What changes from step to step. */
interface StepInputs {
  positions: Handle | null;
  values: readonly number[];
}

/** A linear layer's tensors; the bias once for each row, as the addon adds tensors of one shape. */
interface LinearHandles {
  readonly weight: Handle;
  readonly bias: Handle | null;
  readonly lora: { readonly a: Handle; readonly b: Handle; readonly low: Handle } | null;
}

function callKernels(
  backend: NativeBackend,
  binding: KernelBinding,
  owned: Owned,
  run: Run,
  { shape, normEps: eps, scaling }: DecodeModel,
  cache: PlacedCache,
  table: SlotTable,
  inputs: StepInputs,
): DecodeKernels<Handle> {
  const { headDim } = shape;
  const rows = table.length / 3;
  const of = (tensor: tf.Tensor): Handle => handleOf(backend, tensor);
  const changed = (states: tf.Tensor2D): Handle => ownMemoryOf(backend, binding, states, of(states));
  const slots = owned.of(Int32Array.from(table), [rows, 3]);
  const caches = cache.layers.map(({ prefix, own }) => ({
    prefixK: of(prefix.k),
    prefixV: of(prefix.v),
    ownK: of(own.k),
    ownV: of(own.v),
  }));
  const lowOf = once((rank: number) => owned.floats([rows, rank]));
  const zerosOf = once((count: number) => owned.of(new Float32Array(count), [count]));
  const handlesOf = once(
    ({ weight, bias, lora }: DecodeLinear): LinearHandles => ({
      weight: of(weight),
      bias: bias && owned.of(repeated(bias.dataSync<'float32'>(), rows), [rows, bias.size]),
      lora: lora && { a: of(lora.a), b: of(lora.b), low: lowOf(lora.a.shape[0]) },
    }),
  );
  // The same memory, a head a row.
  const headsIn = once((width: number) =>
    once((x: Handle) => owned.reshaped(x, [(rows * (x.shape[1] ?? 0)) / width, width])),
  );

  return {
    buffer: (columns) => owned.floats([rows, columns]),
    norm: (x, weight, change, y) => {
      if (change !== null) run('addInPlace', { target: x, x: change }, { scale: 1 });
      run('rmsNorm', { x, weight: of(weight), out: y }, { eps });
    },
    linear: (x, layer, y) => {
      const { weight, bias, lora } = handlesOf(layer);
      if (lora !== null) multiply({ run }, x, lora.a, lora.low, { ...plain, alpha: scaling });
      const low = lora && { low: [lora.low, lora.b] as const };
      multiply({ run }, x, weight, y, { ...plain, ofWeights: true, ...low });
      if (bias !== null) run('addInPlace', { target: y, x: bias }, { scale: 1 });
    },
    headNorm: (x, _columns, weight) => {
      const heads = headsIn(weight.size)(x);
      run('rmsNorm', { x: heads, weight: of(weight), out: heads }, { eps });
    },
    rope: (x, _columns, { cos, sin }) => {
      const tables = { positions: inputs.positions ?? undefined, cos: of(cos), sin: of(sin) };
      run('rope', { x, ...tables, out: x }, { headDim, inverse: false });
    },
    attention: (place, q, k, v, out) => {
      const places = { rows: slots, positions: inputs.positions ?? undefined };
      run('decodeAttention', { q, k, v, ...caches[place], ...places, out }, headsOf(shape));
    },
    swiglu: (gate, up) => run('swiglu', { gate, up, out: gate }),
    columns: (op, width, _lines, a, b, out) => {
      const places = { aLine: a.line, aFirst: a.first, bLine: b?.line ?? 0, bFirst: b?.first ?? 0 };
      run('columns', { a: a.of, b: b?.of, out }, { width, ...places, gate: op === 'gate' });
    },
    convolution: ({ weight, bias, silu }, states, x, y) => {
      const weights = { weight: of(weight), bias: bias === null ? zerosOf(y.shape[1] ?? 0) : of(bias) };
      run('convolutionStep', { x, ...weights, states: changed(states), out: y }, { silu });
    },
    deltaRule: ({ keyHeads, valueHeads, keyDim, valueDim }, { timeBias, decay }, states, buffers) => {
      const weights = { timeBias: of(timeBias), decay: of(decay) };
      const sizes = { keyHeads, valueHeads, keyDim, valueDim };
      run('gatedDeltaStep', { ...buffers, ...weights, states: changed(states) }, sizes);
    },
  };
}

/** Makes what belongs to a key when it is first asked for. */
function once<K, V>(make: (key: K) => V): (key: K) => V {
  const made = new Map<K, V>();
  return (key) => {
    const known = made.get(key) ?? make(key);
    made.set(key, known);
    return known;
  };
}

function repeated(values: Float32Array, times: number): Float32Array {
  const all = new Float32Array(values.length * times);
  for (let at = 0; at < all.length; at += values.length) all.set(values, at);
  return all;
}

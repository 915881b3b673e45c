/** A decoding step by calls of the addon's kernels on tensors that are made once: nothing of it passes through tfjs. */
import * as tf from '@tensorflow/tfjs-core';
import { pulse } from '../../../pulse.ts';
import { profiled } from '../../kernel-profile.ts';
import { type PlacedCache, type PrefixKv, placeCache, type RowPrefix } from '../../ops/decode-attention.ts';
import {
  bufferWidths,
  type DecodeBuffers,
  type DecodeKernels,
  type DecodeOps,
  decodeBySteps,
  decodeLayers,
  makeBuffers,
  productWork,
  type RowsStep,
  rowsWork,
  type SlotTable,
} from '../../ops/decode-layers.ts';
import { type DecodeLinear, type DecodeModel, type DecodeRun, linearsOf } from '../../ops/decode-step.ts';
import type { NativeBackend } from '../binding.ts';
import { boolAttr, FLOAT, type Handle, handleOf, INT32, maths, toTensor, typeAttr, withOps } from '../ops.ts';
import { headsOf } from './attention.ts';
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
  const widths = bufferWidths(model);
  const buffers = makeBuffers(widths, (columns) => owned.floats([rows, columns]));
  const [embedding, head] = [handleOf(backend, model.embedding), handleOf(backend, model.head)];
  const run = (name: KernelName, ...[tensors, numbers]: KernelArguments): void =>
    runKernel(binding, name, tensors, numbers);
  const inputs: StepInputs = { positions: null, values: [] };
  const kernels = callKernels(backend, owned, run, model, cache, table, buffers, inputs);
  const ops: DecodeOps = {
    table,
    positions: () => inputs.values,
    op: (works, ...parts) =>
      profiled(works, () => {
        for (const part of parts) part();
      }),
    begin: pulse,
  };
  const logitsOf = (hidden: Handle, count: number): tf.Tensor2D => {
    const logits = openOwned(backend, binding);
    try {
      const out = logits.floats([count, model.head.shape[0]]);
      profiled(
        () => [productWork(count, model.head)],
        () => multiply({ run }, hidden, head, out, { ...plain, ofWeights: true }),
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
          () => [rowsWork('GatherRows', rows, widths.x)],
          () => run('gatherRows', { x: embedding, indices, out: buffers.x }),
        );
        decodeLayers(model, buffers, kernels, ops);
        if (wanted === undefined) return logitsOf(buffers.h, rows);
        const hidden = given.floats([wanted.length, widths.h]);
        run('gatherRows', { x: buffers.h, indices: given.of(Int32Array.from(wanted), [wanted.length]), out: hidden });
        return logitsOf(hidden, wanted.length);
      } finally {
        given.free();
      }
    },
    free: owned.free,
  };
}

type KernelArguments = [
  tensors: Readonly<Record<string, Handle | undefined>>,
  numbers?: Readonly<Record<string, number | boolean>>,
];

type Run = (name: KernelName, ...given: KernelArguments) => void;

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
  owned: Owned,
  run: Run,
  model: DecodeModel,
  cache: PlacedCache,
  table: SlotTable,
  { x, h, q, k, v, attended, gate, up }: DecodeBuffers<Handle>,
  inputs: StepInputs,
): DecodeKernels<Handle> {
  const { shape, normEps: eps, scaling, rope, layers } = model;
  const { numHeads, numKvHeads, headDim } = shape;
  const rows = table.length / 3;
  const of = (tensor: tf.Tensor): Handle => handleOf(backend, tensor);
  const slots = owned.of(Int32Array.from(table), [rows, 3]);
  const tables = { cos: of(rope.cos), sin: of(rope.sin) };
  const caches = cache.layers.map(({ prefix, own }) => ({
    prefixK: of(prefix.k),
    prefixV: of(prefix.v),
    ownK: of(own.k),
    ownV: of(own.v),
  }));
  // All adapted layers have one rank.
  const all = layers.flatMap(linearsOf);
  const rank = all.find(({ lora }) => lora !== null)?.lora?.a.shape[0];
  const low = rank === undefined ? null : owned.floats([rows, rank]);
  const handlesOf = ({ weight, bias, lora }: DecodeLinear): LinearHandles => ({
    weight: of(weight),
    bias: bias && owned.of(repeated(bias.dataSync<'float32'>(), rows), [rows, bias.size]),
    lora: lora && low && { a: of(lora.a), b: of(lora.b), low },
  });
  const linears = new Map(all.map((linear) => [linear, handlesOf(linear)]));
  // The same memory, a head a row.
  const hasHeadNorms = layers.some(({ qNorm }) => qNorm !== null);
  const heads = hasHeadNorms
    ? { q: owned.reshaped(q, [rows * numHeads, headDim]), k: owned.reshaped(k, [rows * numKvHeads, headDim]) }
    : null;

  return {
    norm: (weight, change) => {
      if (change !== null) run('addInPlace', { target: x, x: change }, { scale: 1 });
      run('rmsNorm', { x, weight: of(weight), out: h }, { eps });
    },
    linear: (from, layer, y) => {
      const { weight, bias, lora } = linears.get(layer) as LinearHandles;
      if (lora !== null) multiply({ run }, from, lora.a, lora.low, { ...plain, alpha: scaling });
      multiply({ run }, from, weight, y, {
        ...plain,
        ofWeights: true,
        ...(lora !== null && { low: [lora.low, lora.b] }),
      });
      if (bias !== null) run('addInPlace', { target: y, x: bias }, { scale: 1 });
    },
    headNorm: (name, weight) => {
      if (heads === null) return;
      const { [name]: each } = heads;
      run('rmsNorm', { x: each, weight: of(weight), out: each }, { eps });
    },
    rope: (part) => {
      const { positions } = inputs;
      run('rope', { x: part, positions: positions ?? undefined, ...tables, out: part }, { headDim, inverse: false });
    },
    attention: (layer) =>
      run(
        'decodeAttention',
        { q, k, v, ...caches[layer], rows: slots, positions: inputs.positions ?? undefined, out: attended },
        headsOf(shape),
      ),
    swiglu: () => run('swiglu', { gate, up, out: gate }),
  };
}

function repeated(values: Float32Array, times: number): Float32Array {
  const all = new Float32Array(values.length * times);
  for (let at = 0; at < all.length; at += values.length) all.set(values, at);
  return all;
}

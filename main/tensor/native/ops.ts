/**
 * TensorFlow ops for our kernels, below tfjs: results are handles that carry no tfjs tensor, so that an op costs what
 * the addon takes, and everything that a kernel doesn't return is freed when it ends.
 */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { NativeBackend, OpAttr } from './binding.ts';

/** A tensor of the addon's. `dtype` is TensorFlow's number of the type. */
export interface Handle {
  readonly id: number;
  readonly shape: readonly number[];
  readonly dtype: number;
}

/** TensorFlow's numbers of the types that we use. */
export const FLOAT = 1;
export const INT32 = 3;
export const BFLOAT16 = 14;

/** Runs ops and remembers their results. */
export interface Ops {
  readonly backend: NativeBackend;
  /** A tfjs tensor's handle; it stays the tensor's. */
  of(tensor: TensorInfo): Handle;
  run(name: string, inputs: readonly Handle[], attrs?: readonly OpAttr[]): Handle;
  runMany(name: string, inputs: readonly Handle[], attrs: readonly OpAttr[], outputs: number): Handle[];
  /** A tensor of whole numbers or floats from the host. */
  ints(values: readonly number[] | Int32Array, shape?: readonly number[]): Handle;
  floats(values: Float32Array, shape: readonly number[]): Handle;
  scalar(value: number): Handle;
  /** Takes a handle out of what is freed at the end: the caller's from now on. */
  keep(handle: Handle): Handle;
  free(handle: Handle): void;
  /** Runs a part of a kernel: what it made is freed when it ends, except the handles that it returns. */
  part<T extends Readonly<Record<string, Handle | null>>>(work: () => T): T;
}

export function typeAttr(backend: NativeBackend, name: string, value: number): OpAttr {
  return { name, type: backend.binding.TF_ATTR_TYPE, value };
}

export function boolAttr(backend: NativeBackend, name: string, value: boolean): OpAttr {
  return { name, type: backend.binding.TF_ATTR_BOOL, value };
}

function intAttr(backend: NativeBackend, name: string, value: number | readonly number[]): OpAttr {
  return { name, type: backend.binding.TF_ATTR_INT, value };
}

/** The handle behind a tfjs tensor; values that still wait on the host are handed over first. */
export function handleOf(backend: NativeBackend, { dataId, shape }: TensorInfo): Handle {
  const data = backend.tensorMap.get(dataId);
  if (data.values !== null) {
    data.id = backend.binding.createTensor(data.shape, data.dtype, data.values);
    data.values = null;
  }
  return { id: data.id, shape, dtype: data.dtype };
}

/** Runs `work`; whatever it made is freed afterwards, except what it kept. */
export function withOps<T>(backend: NativeBackend, work: (ops: Ops) => T): T {
  const { binding } = backend;
  // Of the kernel, and of the parts inside each other that it is in.
  const scopes = [new Set<number>()];
  const innermost = (): Set<number> => scopes.at(-1) as Set<number>;
  const forget = ({ id }: Handle): boolean => scopes.some((made) => made.delete(id));
  const add = ({ id, shape, dtype }: Handle): Handle => {
    innermost().add(id);
    return { id, shape, dtype };
  };
  const runMany: Ops['runMany'] = (name, inputs, attrs, outputs) =>
    binding
      .executeOp(
        name,
        attrs,
        inputs.map(({ id }) => id),
        outputs,
      )
      .map(add);
  const run: Ops['run'] = (name, inputs, attrs = []) => runMany(name, inputs, attrs, 1)[0] as Handle;
  const create = (values: Float32Array | Int32Array, shape: readonly number[], dtype: number): Handle =>
    add({ id: binding.createTensor(shape, dtype, values), shape, dtype });
  try {
    return work({
      backend,
      of: (tensor) => handleOf(backend, tensor),
      run,
      runMany,
      ints: (values, shape = [values.length]) =>
        create(values instanceof Int32Array ? values : Int32Array.from(values), shape, INT32),
      floats: (values, shape) => create(values, shape, FLOAT),
      scalar: (value) => create(Float32Array.of(value), [], FLOAT),
      keep: (handle) => {
        forget(handle);
        return handle;
      },
      free: (handle) => {
        if (forget(handle)) binding.deleteTensor(handle.id);
      },
      part: (work) => {
        const own = new Set<number>();
        const outer = innermost();
        scopes.push(own);
        try {
          const found = work();
          for (const handle of Object.values(found)) if (handle !== null && own.delete(handle.id)) outer.add(handle.id);
          return found;
        } finally {
          scopes.pop();
          for (const id of own) binding.deleteTensor(id);
        }
      },
    });
  } finally {
    for (const made of scopes) for (const id of made) binding.deleteTensor(id);
  }
}

/** Hands a kept handle to tfjs as the output of a kernel. */
export function toTensor(backend: NativeBackend, { id, shape, dtype }: Handle): TensorInfo {
  const dataId = {};
  backend.tensorMap.set(dataId, { shape, dtype, id, values: null, refCount: 1 });
  return { dataId, shape: [...shape], dtype: dtype === INT32 ? 'int32' : 'float32' };
}

/** A 16-bit weight as float32, for the op at hand; everything else as it is. */
export function asFloat(ops: Ops, x: Handle): Handle {
  return x.dtype === BFLOAT16 ? maths(ops).cast(x, FLOAT) : x;
}

/** The words of elementary ops, so that kernels read as formulas. Everything is float32 unless said. */
export function maths(ops: Ops) {
  const { backend, run, runMany } = ops;
  const t = typeAttr(backend, 'T', FLOAT);
  const tidx = typeAttr(backend, 'Tidx', INT32);
  const typed = (handle: Handle): OpAttr => (handle.dtype === FLOAT ? t : typeAttr(backend, 'T', handle.dtype));
  const binary =
    (name: string) =>
    (a: Handle, b: Handle): Handle =>
      run(name, [a, b], [typed(a)]);
  const unary =
    (name: string) =>
    (x: Handle): Handle =>
      run(name, [x], [t]);
  return {
    add: binary('AddV2'),
    sub: binary('Sub'),
    mul: binary('Mul'),
    div: binary('RealDiv'),
    square: unary('Square'),
    sqrt: unary('Sqrt'),
    rsqrt: unary('Rsqrt'),
    sigmoid: unary('Sigmoid'),
    softmax: unary('Softmax'),
    logSoftmax: unary('LogSoftmax'),
    neg: unary('Neg'),
    /** [n] → [n, size] */
    oneHot: (indices: Handle, size: number): Handle =>
      run(
        'OneHot',
        [indices, ops.ints([size], []), ops.scalar(1), ops.scalar(0)],
        [intAttr(backend, 'axis', -1), t, typeAttr(backend, 'TI', INT32)],
      ),
    /** dy * y * (1 - y) */
    sigmoidGrad: (y: Handle, dy: Handle): Handle => run('SigmoidGrad', [y, dy], [t]),
    sum: (x: Handle, axis: number, keep = true): Handle =>
      run('Sum', [x, ops.ints([axis])], [boolAttr(backend, 'keep_dims', keep), t, tidx]),
    mean: (x: Handle, axis: number): Handle =>
      run('Mean', [x, ops.ints([axis])], [boolAttr(backend, 'keep_dims', true), t, tidx]),
    matMul: (a: Handle, b: Handle, ta = false, tb = false): Handle =>
      run('MatMul', [a, b], [boolAttr(backend, 'transpose_a', ta), boolAttr(backend, 'transpose_b', tb), typed(a)]),
    /** Batched over all but the last two axes. */
    batchMatMul: (a: Handle, b: Handle, ta = false, tb = false): Handle =>
      run('BatchMatMulV2', [a, b], [boolAttr(backend, 'adj_x', ta), boolAttr(backend, 'adj_y', tb), typed(a)]),
    reshape: (x: Handle, shape: readonly number[]): Handle =>
      run('Reshape', [x, ops.ints(shape)], [typed(x), typeAttr(backend, 'Tshape', INT32)]),
    transpose: (x: Handle, permutation: readonly number[]): Handle =>
      run('Transpose', [x, ops.ints(permutation)], [typed(x), typeAttr(backend, 'Tperm', INT32)]),
    concat: (parts: readonly Handle[], axis: number): Handle => {
      const [only, ...others] = parts;
      if (only !== undefined && others.length === 0) return only;
      return run('ConcatV2', [...parts, ops.ints([axis], [])], [intAttr(backend, 'N', parts.length), t, tidx]);
    },
    splitSizes: (x: Handle, sizes: readonly number[], axis: number): Handle[] =>
      runMany(
        'SplitV',
        [x, ops.ints(sizes), ops.ints([axis], [])],
        [intAttr(backend, 'num_split', sizes.length), t, typeAttr(backend, 'Tlen', INT32)],
        sizes.length,
      ),
    /** Rows of x by number; every number must be one of x's rows. */
    gather: (x: Handle, indices: Handle): Handle =>
      run(
        'GatherV2',
        [x, indices, ops.ints([0], [])],
        [
          intAttr(backend, 'batch_dims', 0),
          typeAttr(backend, 'Tparams', x.dtype),
          typeAttr(backend, 'Tindices', INT32),
          typeAttr(backend, 'Taxis', INT32),
        ],
      ),
    /** Sums of rows by their number; rows with a negative number are left out. */
    segmentSum: (x: Handle, numbers: Handle, segments: number): Handle =>
      run(
        'UnsortedSegmentSum',
        [x, numbers, ops.ints([segments], [])],
        [t, typeAttr(backend, 'Tindices', INT32), typeAttr(backend, 'Tnumsegments', INT32)],
      ),
    slice: (x: Handle, begin: readonly number[], size: readonly number[]): Handle =>
      run('Slice', [x, ops.ints(begin), ops.ints(size)], [typed(x), typeAttr(backend, 'Index', INT32)]),
    cast: (x: Handle, to: number): Handle =>
      run(
        'Cast',
        [x],
        [typeAttr(backend, 'SrcT', x.dtype), typeAttr(backend, 'DstT', to), boolAttr(backend, 'Truncate', false)],
      ),
  };
}

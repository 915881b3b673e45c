/** What only moves numbers: views, transposes, slices, joins, paddings. One strided copy does them all. */
import { backend_util, slice_util, type TensorInfo, util } from '@tensorflow/tfjs-core';
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor, type Register, sizeOf } from '../kernel.ts';
import { program } from '../program.ts';
import { dimensions, fill, offsets, padded, stridesOf } from './elementwise.ts';

const WORKGROUP = 256;

const copyProgram = program({
  name: 'StridedCopy',
  parameters: ['n', 'first', 'place', ...dimensions('d'), ...dimensions('a'), ...dimensions('b')],
  buffers: { x: 'u32', out: 'rw u32' },
  workgroup: WORKGROUP,
  main: `  let i = group * ${WORKGROUP}u + lane;
  if (i >= p.n) { return; }
${offsets(['a', 'b'])}
  out[p.place + at_b] = x[p.first + at_a];`,
});

/** Where a copy reads and writes: strides and first elements, over one shape. */
interface Copy {
  readonly shape: readonly number[];
  readonly from?: number;
  readonly fromStrides: readonly number[];
  readonly to?: number;
  readonly toStrides?: readonly number[];
}

function copyInto(backend: WebGpuBackend, x: TensorInfo, out: TensorInfo, copy: Copy): void {
  const { shape, from = 0, fromStrides, to = 0, toStrides = stridesOf(shape) } = copy;
  const n = shape.reduce((product, size) => product * size, 1);
  const parameters = [n, from, to, ...padded(shape, 1), ...padded(fromStrides, 0), ...padded(toStrides, 0)];
  backend.gpu.run(copyProgram, [backend.buffer(x), backend.buffer(out)], parameters, groupsFor(n, WORKGROUP));
}

export function transpose(backend: WebGpuBackend, x: TensorInfo, perm: readonly number[]): TensorInfo {
  const strides = stridesOf(x.shape);
  const shape = perm.map((axis) => x.shape[axis] ?? 1);
  const out = backend.output(shape, x.dtype);
  copyInto(backend, x, out, { shape, fromStrides: perm.map((axis) => strides[axis] ?? 0) });
  return out;
}

function slice(backend: WebGpuBackend, x: TensorInfo, begin: number | number[], size: number | number[]): TensorInfo {
  const [first, shape] = slice_util.parseSliceParams(x as never, begin, size) as [number[], number[]];
  slice_util.assertParamsValid(x as never, first, shape);
  const strides = stridesOf(x.shape);
  const out = backend.output(shape, x.dtype);
  const from = first.reduce((sum, at, axis) => sum + at * (strides[axis] ?? 0), 0);
  copyInto(backend, x, out, { shape, from, fromStrides: strides });
  return out;
}

/** Joins tensors along an axis. */
function concat(backend: WebGpuBackend, tensors: readonly TensorInfo[], axis: number): TensorInfo {
  const [first] = tensors;
  if (first === undefined) throw new Error('Expected tensors to join, got none');
  const width = tensors.reduce((sum, { shape }) => sum + (shape[axis] ?? 1), 0);
  const shape = first.shape.map((size, i) => (i === axis ? width : size));
  const out = backend.output(shape, first.dtype);
  const toStrides = stridesOf(shape);
  let at = 0;
  for (const tensor of tensors) {
    if (sizeOf(tensor) > 0)
      copyInto(backend, tensor, out, {
        shape: tensor.shape,
        fromStrides: stridesOf(tensor.shape),
        to: at * (toStrides[axis] ?? 1),
        toStrides,
      });
    at += tensor.shape[axis] ?? 1;
  }
  return out;
}

function pad(backend: WebGpuBackend, x: TensorInfo, paddings: readonly (readonly [number, number])[], value: number) {
  const shape = x.shape.map((size, i) => size + (paddings[i]?.[0] ?? 0) + (paddings[i]?.[1] ?? 0));
  const out = fill(backend, shape, value, x.dtype);
  const toStrides = stridesOf(shape);
  const to = paddings.reduce((sum, [before], i) => sum + before * (toStrides[i] ?? 0), 0);
  if (sizeOf(x) > 0) {
    backend.bufferToChange(out);
    copyInto(backend, x, out, { shape: x.shape, fromStrides: stridesOf(x.shape), to, toStrides });
  }
  return out;
}

/** Repeats a tensor: each axis becomes two, of which the first has no stride. */
function tile(backend: WebGpuBackend, x: TensorInfo, reps: readonly number[]): TensorInfo {
  const out = backend.output(
    x.shape.map((size, i) => size * (reps[i] ?? 1)),
    x.dtype,
  );
  const strides = stridesOf(x.shape);
  // Axes that aren't repeated need no second one: tensors of high rank then still fit.
  const axes = x.shape.map((size, i) => ({ size, reps: reps[i] ?? 1, stride: strides[i] ?? 1 }));
  const split = axes.flatMap((axis) => (axis.reps === 1 ? [axis] : [{ ...axis, size: axis.reps, stride: 0 }, axis]));
  copyInto(backend, x, out, { shape: split.map(({ size }) => size), fromStrides: split.map(({ stride }) => stride) });
  return out;
}

function reshape(backend: WebGpuBackend, x: TensorInfo, shape: number[]): TensorInfo {
  const inferred = util.inferFromImplicitShape(shape, sizeOf(x));
  if (util.sizeFromShape(inferred) !== sizeOf(x))
    throw new Error(`Expected a shape of ${sizeOf(x)} elements, got [${inferred}]`);
  return backend.share(x, inferred);
}

function expanded(shape: readonly number[], axis: number): number[] {
  const at = axis < 0 ? shape.length + axis + 1 : axis;
  return [...shape.slice(0, at), 1, ...shape.slice(at)];
}

/** The tensors of an op that takes a list: tfjs names them by their number. */
function listed(inputs: { input(name: string): TensorInfo }): TensorInfo[] {
  const found: TensorInfo[] = [];
  for (let i = 0; ; i++) {
    try {
      found.push(inputs.input(String(i)));
    } catch {
      return found;
    }
  }
}

export function registerShape(register: Register): void {
  register('Identity', ({ backend, input }) => backend.share(input('x'), input('x').shape));
  register<{ shape: number[] }>('Reshape', ({ backend, input, attrs }) => reshape(backend, input('x'), attrs.shape));
  register<{ dim: number }>('ExpandDims', ({ backend, input, attrs }) =>
    backend.share(input('input'), expanded(input('input').shape, attrs.dim)),
  );
  register<{ perm: number[] }>('Transpose', ({ backend, input, attrs }) => transpose(backend, input('x'), attrs.perm));
  register<{ begin: number[]; size: number[] }>('Slice', ({ backend, input, attrs }) =>
    slice(backend, input('x'), attrs.begin, attrs.size),
  );
  register<{ axis: number }>('Concat', (call) => {
    const tensors = listed(call);
    const axis = util.parseAxisParam(call.attrs.axis, tensors[0]?.shape ?? [])[0] ?? 0;
    const shapes = tensors.map(({ shape }) => shape);
    backend_util.assertParamsConsistent(shapes, axis);
    return concat(call.backend, tensors, axis);
  });
  register<{ axis: number }>('Pack', (call) => {
    const tensors = listed(call);
    const rank = (tensors[0]?.shape.length ?? 0) + 1;
    const axis = call.attrs.axis < 0 ? call.attrs.axis + rank : call.attrs.axis;
    return concat(
      call.backend,
      tensors.map((tensor) => ({ ...tensor, shape: expanded(tensor.shape, axis) })),
      axis,
    );
  });
  register<{ axis: number }>('Unpack', ({ backend, input, attrs }) => {
    const value = input('value');
    const axis = attrs.axis < 0 ? attrs.axis + value.shape.length : attrs.axis;
    const rest = value.shape.filter((_, i) => i !== axis);
    return Array.from({ length: value.shape[axis] ?? 0 }, (_, at) => {
      const begin = value.shape.map((_, i) => (i === axis ? at : 0));
      const size = value.shape.map((length, i) => (i === axis ? 1 : length));
      return { ...slice(backend, value, begin, size), shape: rest };
    });
  });
  register<{ numOrSizeSplits: number[] | number; axis: number }>('SplitV', ({ backend, input, attrs }) => {
    const x = input('x');
    const axis = util.parseAxisParam(attrs.axis, x.shape)[0] ?? 0;
    let at = 0;
    return backend_util.prepareSplitSize(x as never, attrs.numOrSizeSplits, axis).map((length) => {
      const begin = x.shape.map((_, i) => (i === axis ? at : 0));
      const size = x.shape.map((whole, i) => (i === axis ? length : whole));
      at += length;
      return slice(backend, x, begin, size);
    });
  });
  register<{ paddings: [number, number][]; constantValue: number }>('PadV2', ({ backend, input, attrs }) =>
    pad(backend, input('x'), attrs.paddings, attrs.constantValue),
  );
  register<{ reps: number[] }>('Tile', ({ backend, input, attrs }) => tile(backend, input('x'), attrs.reps));
  register<{ start: number; stop: number; step: number; dtype: 'float32' | 'int32' }>('Range', ({ backend, attrs }) => {
    const { start, stop, step, dtype } = attrs;
    const count = Math.max(0, Math.ceil((stop - start) / step));
    const values = Float32Array.from({ length: count }, (_, i) => start + i * step);
    return { dataId: backend.write(values, [count], dtype), shape: [count], dtype };
  });
}

/** Elements along an axis by index: x [outer, axis, inner] → [outer, indices, inner]. */
const gatherProgram = program({
  name: 'Gather',
  parameters: ['n', 'axis', 'inner', 'count'],
  buffers: { x: 'u32', indices: 'i32', out: 'rw u32' },
  workgroup: WORKGROUP,
  main: `  let i = group * ${WORKGROUP}u + lane;
  if (i >= p.n) { return; }
  let inner = i % p.inner;
  let index = u32(indices[(i / p.inner) % p.count]);
  let outer = i / (p.inner * p.count);
  out[i] = x[(outer * p.axis + index) * p.inner + inner];`,
});

/** tf.gather without batch dimensions. */
export function copyAxisGather(backend: WebGpuBackend, x: TensorInfo, indices: TensorInfo, axis: number): TensorInfo {
  const [at = 0] = util.parseAxisParam(axis, x.shape);
  const out = backend.output([...x.shape.slice(0, at), ...indices.shape, ...x.shape.slice(at + 1)], x.dtype);
  const inner = util.sizeFromShape(x.shape.slice(at + 1));
  const n = sizeOf(out);
  const buffers = [x, indices, out].map((tensor) => backend.buffer(tensor));
  backend.gpu.run(gatherProgram, buffers, [n, x.shape[at] ?? 1, inner, sizeOf(indices)], groupsFor(n, WORKGROUP));
  return out;
}

/** Sums, means, extremes over any axes; large ones in two stages, always in the same order. */
import { backend_util, type TensorInfo, util } from '@tensorflow/tfjs-core';
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor, type Register, sizeOf } from '../kernel.ts';
import { program, variants } from '../program.ts';
import { transpose } from './shape.ts';

const LANES = 256;

/** A row longer than this is cut into parts where there are few rows, so that the whole GPU works on it. */
const LONG_ROW = 16_384;
/** Parts of a row at most: so many workgroups keep the largest GPU's memory busy. */
const MOST_PARTS = 2048;

type Reduction = 'sum' | 'max' | 'min' | 'prod' | 'sum-squares';
type Scalar = 'f32' | 'i32';

interface Key {
  readonly reduction: Reduction;
  readonly type: Scalar;
}

const STEP: Readonly<Record<Reduction, string>> = {
  sum: 'a + b',
  'sum-squares': 'a + b',
  prod: 'a * b',
  max: 'max(a, b)',
  min: 'min(a, b)',
};

function start({ reduction, type }: Key): string {
  if (reduction === 'prod') return `${type}(1)`;
  if (reduction === 'max') return type === 'f32' ? '-3.4028234e38' : '-2147483647';
  if (reduction === 'min') return type === 'f32' ? '3.4028234e38' : '2147483647';
  return `${type}(0)`;
}

const declarations = ({ reduction, type }: Key): string => `
fn join(a: ${type}, b: ${type}) -> ${type} { return ${STEP[reduction]}; }
fn taken(x: ${type}) -> ${type} { return ${reduction === 'sum-squares' ? 'x * x' : 'x'}; }`;

/** Lanes that join the others' parts. */
const JOINERS = 16;

/** Declares what `joined` needs; `join` has to be declared too. */
export const joining = (type: string, lanes: number): string => `
var<workgroup> partial: array<${type}, ${lanes}>;
var<workgroup> joints: array<${type}, ${JOINERS}>;`;

/**
 * WGSL statements that declare `name`: \`value\` joined over all lanes, in every lane. Two barriers instead of a tree's
 * eight: barriers are what small reductions cost.
 */
export function joined(name: string, value: string, lanes: number): string {
  return `  partial[lane] = ${value};
  workgroupBarrier();
  if (lane < ${JOINERS}u) {
    var part = partial[lane];
    for (var other = lane + ${JOINERS}u; other < ${lanes}u; other += ${JOINERS}u) { part = join(part, partial[other]); }
    joints[lane] = part;
  }
  workgroupBarrier();
  var ${name} = joints[0];
  for (var other = 1u; other < ${JOINERS}u; other++) { ${name} = join(${name}, joints[other]); }`;
}

/** Declares what `firstLargest` needs. */
export const placing = (lanes: number): string => `
var<workgroup> best: array<f32, ${lanes}>;
var<workgroup> place: array<u32, ${lanes}>;`;

/** WGSL statements after which `best[0]` is the largest `top` of all lanes and `place[0]` its `at`: of equals the first. */
export const firstLargest = (lanes: number): string => `  best[lane] = top;
  place[lane] = at;
  workgroupBarrier();
  for (var half = ${lanes / 2}u; half > 0u; half /= 2u) {
    if (lane < half) {
      let other = lane + half;
      if (best[other] > best[lane] || (best[other] == best[lane] && place[other] < place[lane])) {
        best[lane] = best[other];
        place[lane] = place[other];
      }
    }
    workgroupBarrier();
  }`;

/** Lanes for rows of so many numbers: a short row on many lanes is all overhead. */
export function lanesFor(width: number): number {
  return width <= 128 ? 32 : width <= 1024 ? 64 : 256;
}

/** Each workgroup takes `length` elements of a row of `width`: x [rows, width] → out [rows, parts]. */
const rowProgram = variants(({ lanes, ...key }: Key & { readonly lanes: number }) =>
  program({
    name: `Reduce ${key.reduction}`,
    parameters: ['rows', 'width', 'length', 'parts', 'scale:f32'],
    buffers: { x: key.type, out: `rw ${key.type}` },
    workgroup: lanes,
    declarations: declarations(key) + joining(key.type, lanes),
    main: `  let row = group / p.parts;
  if (row >= p.rows) { return; }
  let first = (group % p.parts) * p.length;
  let end = min(p.width, first + p.length);
  var sum: ${key.type} = ${start(key)};
  for (var i = first + lane; i < end; i += ${lanes}u) { sum = join(sum, taken(x[row * p.width + i])); }
${joined('total', 'sum', lanes)}
  if (lane == 0u) { out[group] = ${key.type === 'f32' ? 'total * p.scale' : 'total'}; }`,
  }),
);

/** Each invocation takes a column over `length` rows: x [rows, width] → out [parts, width]. */
const columnProgram = variants((key: Key) =>
  program({
    name: `Reduce columns ${key.reduction}`,
    parameters: ['rows', 'width', 'length', 'scale:f32'],
    buffers: { x: key.type, out: `rw ${key.type}` },
    workgroup: 64,
    declarations: declarations(key),
    main: `  let column = wg.x * 64u + lane;
  if (column >= p.width) { return; }
  let end = min(p.rows, (wg.y + 1u) * p.length);
  var sum: ${key.type} = ${start(key)};
  for (var row = wg.y * p.length; row < end; row++) { sum = join(sum, taken(x[row * p.width + column])); }
  out[wg.y * p.width + column] = ${key.type === 'f32' ? 'sum * p.scale' : 'sum'};`,
  }),
);

/** x [rows, width] → [rows]; the result is multiplied by `scale`. */
function reduceRows(
  backend: WebGpuBackend,
  key: Key,
  x: TensorInfo,
  rows: number,
  width: number,
  scale: number,
): TensorInfo {
  const parts = rows < 64 && width > LONG_ROW ? Math.min(MOST_PARTS, Math.ceil(width / LONG_ROW)) : 1;
  const out = backend.output([rows * parts], x.dtype);
  const length = Math.ceil(width / parts);
  const parameters = [rows, width, length, parts, parts === 1 ? scale : 1];
  backend.gpu.run(
    rowProgram({ ...key, lanes: lanesFor(length) }),
    [backend.buffer(x), backend.buffer(out)],
    parameters,
    rows * parts,
  );
  if (parts === 1) return out;
  const again: Key = key.reduction === 'sum-squares' ? { ...key, reduction: 'sum' } : key;
  const total = reduceRows(backend, again, out, rows, parts, scale);
  backend.release(out);
  return total;
}

/** x [rows, width] → [width]. */
function reduceColumns(
  backend: WebGpuBackend,
  key: Key,
  x: TensorInfo,
  rows: number,
  width: number,
  scale: number,
): TensorInfo {
  const length = rows > 512 ? 256 : Math.max(rows, 1);
  const parts = Math.max(1, Math.ceil(rows / length));
  const out = backend.output([parts * width], x.dtype);
  const buffers = [backend.buffer(x), backend.buffer(out)];
  backend.gpu.run(
    columnProgram(key),
    buffers,
    [rows, width, length, parts === 1 ? scale : 1],
    [groupsFor(width, 64), parts, 1],
  );
  if (parts === 1) return out;
  const total = reduceColumns(backend, key, out, parts, width, scale);
  backend.release(out);
  return total;
}

function reduce(
  backend: WebGpuBackend,
  reduction: Reduction,
  x: TensorInfo,
  axis: number | number[] | null,
  keepDims: boolean,
  mean = false,
): TensorInfo {
  const type: Scalar = x.dtype === 'float32' ? 'f32' : 'i32';
  const key: Key = { reduction, type };
  const axes = util.parseAxisParam(axis as number[], x.shape);
  const [outShape, reduced] = backend_util.computeOutAndReduceShapes(x.shape, axes);
  const width = util.sizeFromShape(reduced);
  const kept = util.sizeFromShape(outShape);
  const scale = mean ? 1 / width : 1;
  const shape = keepDims ? backend_util.expandShapeToKeepDim(outShape, axes) : outShape;
  const leading = axes.every((each, i) => each === i);
  const trailing = axes.every((each, i) => each === x.shape.length - axes.length + i);
  if (leading && !trailing && kept > 0) return { ...reduceColumns(backend, key, x, width, kept, scale), shape };
  if (trailing) return { ...reduceRows(backend, key, x, kept, width, scale), shape };
  const others = x.shape.map((_, i) => i).filter((i) => !axes.includes(i));
  const moved = transpose(backend, x, [...others, ...axes]);
  const out = reduceRows(backend, key, moved, kept, width, scale);
  backend.release(moved);
  return { ...out, shape };
}

/** Σ x², as a tensor of one number. */
export function sumSquares(backend: WebGpuBackend, x: TensorInfo): TensorInfo {
  return { ...reduceRows(backend, { reduction: 'sum-squares', type: 'f32' }, x, 1, sizeOf(x), 1), shape: [] };
}

/** x [N, D] → [D]. */
export function sumColumns(backend: WebGpuBackend, x: TensorInfo): TensorInfo {
  const [rows = 0, width = 0] = x.shape;
  return { ...reduceColumns(backend, { reduction: 'sum', type: 'f32' }, x, rows, width, 1), shape: [width] };
}

/** The index of the first largest (or smallest) element of each row. */
const argProgram = variants(({ sign }: { readonly sign: 1 | -1 }) =>
  program({
    name: sign === 1 ? 'ArgMax' : 'ArgMin',
    parameters: ['rows', 'width'],
    buffers: { x: 'f32', out: 'rw i32' },
    workgroup: LANES,
    declarations: placing(LANES),
    main: `  if (group >= p.rows) { return; }
  var top = -3.4028234e38;
  var at = 0xffffffffu;
  for (var i = lane; i < p.width; i += ${LANES}u) {
    let value = ${sign === 1 ? '' : '-'}x[group * p.width + i];
    if (value > top || at == 0xffffffffu) { top = value; at = i; }
  }
${firstLargest(LANES)}
  if (lane == 0u) { out[group] = i32(place[0]); }`,
  }),
);

export function registerReduce(register: Register): void {
  const ops: readonly (readonly [string, Reduction, boolean])[] = [
    ['Sum', 'sum', false],
    ['Mean', 'sum', true],
    ['Max', 'max', false],
    ['Min', 'min', false],
    ['Prod', 'prod', false],
    ['All', 'min', false],
    ['Any', 'max', false],
  ];
  for (const [name, reduction, mean] of ops) {
    register<{ axis?: number | number[]; reductionIndices?: number[]; keepDims?: boolean }>(
      name,
      ({ backend, input, attrs }) =>
        reduce(
          backend,
          reduction,
          input('x'),
          attrs.axis ?? attrs.reductionIndices ?? null,
          attrs.keepDims ?? false,
          mean,
        ),
    );
  }
  for (const [name, sign] of [
    ['ArgMax', 1],
    ['ArgMin', -1],
  ] as const) {
    register<{ axis: number }>(name, ({ backend, input, attrs }) => {
      const x = input('x');
      const [axis = 0] = util.parseAxisParam(attrs.axis, x.shape);
      const others = x.shape.map((_, i) => i).filter((i) => i !== axis);
      const shape = others.map((i) => x.shape[i] ?? 1);
      const moved = transpose(backend, x, [...others, axis]);
      const out = backend.output(shape, 'int32');
      const width = x.shape[axis] ?? 1;
      const rows = sizeOf(out);
      backend.gpu.run(argProgram({ sign }), [backend.buffer(moved), backend.buffer(out)], [rows, width], rows);
      backend.release(moved);
      return out;
    });
  }
}

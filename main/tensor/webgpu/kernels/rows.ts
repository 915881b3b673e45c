/** Rows of a table by index, and their gradient. */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import type { WebGpuBackend } from '../backend.ts';
import { groupsFor, type Register, sizeOf } from '../kernel.ts';
import { program, variants } from '../program.ts';
import { formOf, matrixOf } from './matrix.ts';
import { elementType, type OperandForm, readFour } from './operand.ts';
import { copyAxisGather } from './shape.ts';

const LANES = 128;

/** Of a table in parts, each fills the rows whose index is among its lines, from `first` on. */
const gather = variants(({ form, split }: { readonly form: OperandForm; readonly split: boolean }) =>
  program({
    name: 'GatherRows',
    parameters: ['rows', 'width', 'tableRows', 'first'],
    buffers: { x: elementType(form), indices: 'i32', out: 'rw f32' },
    workgroup: LANES,
    declarations: readFour('readTable', 'x', form),
    main: `  let vectors = (p.width + 3u) / 4u;
  let i = group * ${LANES}u + lane;
  if (i >= p.rows * vectors) { return; }
  let row = i / vectors;
  let at = 4u * (i % vectors);
  let index = indices[row] - i32(p.first);
${split ? '  if (index < 0 || index >= i32(p.tableRows)) { return; }' : ''}
  var value = vec4<f32>(0.0);
  if (index >= 0) { value = readTable(u32(index), at, p.tableRows, p.width); }
  for (var c = 0u; c < min(4u, p.width - at); c++) { out[row * p.width + at + c] = value[c]; }`,
  }),
);

/** dy [N, D] → out [R, D], cleared before; an invocation adds up a column of the rows that went to one target. */
const scatter = program({
  name: 'ScatterAddRows',
  parameters: ['targets', 'width'],
  buffers: { dy: 'f32', plan: 'i32', out: 'rw f32' },
  workgroup: LANES,
  main: `  let i = group * ${LANES}u + lane;
  if (i >= p.targets * p.width) { return; }
  let target_ = i / p.width;
  let column = i % p.width;
  let entry = 3u * target_;
  let first = u32(plan[entry + 1u]);
  var sum = 0.0;
  for (var n = first; n < first + u32(plan[entry + 2u]); n++) {
    sum += dy[u32(plan[3u * p.targets + n]) * p.width + column];
  }
  out[u32(plan[entry]) * p.width + column] = sum;`,
});

/** Sources by target: (target, first, count) of each target that has any, then the sources' numbers. */
export function scatterPlan(indices: ArrayLike<number>): { readonly targets: number; readonly plan: Int32Array } {
  const byTarget = new Map<number, number[]>();
  for (let n = 0; n < indices.length; n++) {
    const target = indices[n] as number;
    if (target < 0) continue;
    const list = byTarget.get(target);
    if (list === undefined) byTarget.set(target, [n]);
    else list.push(n);
  }
  let first = 0;
  const heads = [...byTarget].flatMap(([target, sources]) => {
    first += sources.length;
    return [target, first - sources.length, sources.length];
  });
  return { targets: byTarget.size, plan: Int32Array.from([...heads, ...[...byTarget.values()].flat()]) };
}

function gatherRows(backend: WebGpuBackend, x: TensorInfo, indices: TensorInfo): TensorInfo {
  const table = matrixOf(backend, x);
  const rows = sizeOf(indices);
  const out = backend.output([rows, table.length]);
  const [index, result] = [backend.buffer(indices), backend.buffer(out)];
  const groups = groupsFor(rows * Math.ceil(table.length / 4), LANES);
  const split = table.parts !== undefined;
  if (split) backend.gpu.clear(result, 0, Math.max(4, rows * table.length));
  let first = 0;
  for (const part of table.parts ?? [table]) {
    const parameters = [rows, table.length, part.lines, first];
    backend.gpu.run(gather({ form: formOf(part), split }), [part.buffer, index, result], parameters, groups);
    first += part.lines;
  }
  return out;
}

function scatterAdd(backend: WebGpuBackend, dy: TensorInfo, indices: TensorInfo, rows: number): TensorInfo {
  const width = sizeOf(dy) / Math.max(1, sizeOf(indices));
  const out = backend.output([rows, width]);
  const buffer = backend.buffer(out);
  backend.gpu.clear(buffer, 0, Math.max(4, rows * width));
  const { targets, plan } = scatterPlan(backend.values(indices));
  if (targets === 0) return out;
  const table = backend.integers(plan);
  backend.gpu.run(
    scatter,
    [backend.buffer(dy), backend.buffer(table), buffer],
    [targets, width],
    groupsFor(targets * width, LANES),
  );
  backend.release(table);
  return out;
}

export function registerRows(register: Register): void {
  register('GatherRows', ({ backend, input }) => gatherRows(backend, input('x'), input('indices')));
  register<{ rows: number }>('ScatterAddRows', ({ backend, input, attrs }) =>
    scatterAdd(backend, input('dy'), input('indices'), attrs.rows),
  );
  register<{ numSegments: number }>('UnsortedSegmentSum', ({ backend, input, attrs }) => {
    const x = input('x');
    const out = scatterAdd(backend, x, input('segmentIds'), attrs.numSegments);
    return { ...out, shape: [attrs.numSegments, ...x.shape.slice(1)] };
  });
  register<{ axis: number; batchDims: number }>('GatherV2', ({ backend, input, attrs }) => {
    if (attrs.batchDims) throw new Error('Expected a gather without batch dimensions');
    return copyAxisGather(backend, input('x'), input('indices'), attrs.axis);
  });
}

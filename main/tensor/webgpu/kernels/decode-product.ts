/**
 * Products of a decoding step for up to sixteen rows, each one dispatch with all that follows it (decode-finish.ts). On
 * matrix units a workgroup has the tile of product-units.ts; elsewhere 32 lanes share a line of the weights, as in
 * product-rows.ts, and a workgroup goes through the lines of a tile.
 */

import { roundsProducts } from '../../compute-dtype.ts';
import type { WebGpuBackend } from '../backend.ts';
import type { MatrixUnit } from '../matrix-units.ts';
import type { GpuBuffer } from '../pool.ts';
import { type Program, program, range, variants } from '../program.ts';
import { equalParts } from '../work.ts';
import {
  COLUMNS,
  FINISH_PARAMETERS,
  type FinishKey,
  finishBuffers,
  finishDeclarations,
  finishNumbers,
  finishTile,
  LANES,
} from './decode-finish.ts';
import { type UnitsReading, unitsDeclarations, unitsMemory, unitsStatements } from './decode-units.ts';
import { formOf, type Matrix } from './matrix.ts';
import { elementType, type OperandForm, readFour } from './operand.ts';
import { takenUnit } from './product-by-units.ts';
import { cut, type Slices } from './product-slices.ts';
import { unitDirectives } from './product-units.ts';
import { findMatrix } from './side-by-side.ts';
import { DEPTH, TILES } from './units-tile.ts';
import { unitsElement } from './units-weights.ts';

/** More rows than this are further products, which read the weights again. */
export const MOST_ROWS = 16;

/** Rows of a workgroup without units: on a processor, a compiler takes most of a minute for sixteen. */
const rowsOf = (backend: WebGpuBackend, units: boolean): number => (backend.gpu.adapter.software && !units ? 4 : 16);

/** Rows that buffers need room for: those of whole tiles. */
export function roomFor(backend: WebGpuBackend, rows: number): number {
  const tile = rowsOf(backend, backend.gpu.matrixUnit !== null);
  return tile * Math.ceil(rows / tile);
}

export interface ProductKey extends FinishKey {
  /** Null: it is computed without. */
  readonly unit: MatrixUnit | null;
  /** On units of float16: factors rounded to one number each. */
  readonly rounded: boolean;
  readonly weights: readonly OperandForm[];
}

/** Lanes that share a line, and lines that they work on together. */
const TEAM = 32;
const TEAMS = LANES / TEAM;
const LINES = 4;
/** Rows whose sums the lanes put together at a time. */
const ROWS_TOGETHER = 4;

/** Workgroups that keep a large GPU's memory busy, and steps of K that a slice has at least. */
const BUSY_GROUPS = 768;
const LEAST_SLICE = 256;
const STEP = 4 * TEAM;

/** Whether the workgroup's memory holds what a product without units needs. */
export const fits = ({ gpu }: WebGpuBackend, rank: number): boolean =>
  16 * LANES * ROWS_TOGETHER + 4 * finishNumbers({ ...PLAIN, rows: MOST_ROWS, rank, epilogue: 'swiglu' }) <=
  gpu.adapter.limits.maxComputeWorkgroupStorageSize;

const PLAIN: FinishKey = {
  rows: 4,
  rank: 0,
  bias: false,
  sliced: false,
  normed: false,
  epilogue: 'store',
  next: false,
};

/** Finds the workgroup's tile; of swiglu it has half of gate and half of up. */
const findTile = ({ weights, epilogue }: ProductKey): string =>
  epilogue === 'swiglu'
    ? `  let matrix = 0u;
  let tile = wg.y + p.skip;
  let before = 0u;
  let n = p.n0;`
    : findMatrix(weights.length, COLUMNS, 'wg.y + p.skip');

/** The matrix of a tile's column, and the line of it, as expressions. */
const lineOf = (swiglu: boolean, column: string): readonly [part: string, line: string] =>
  swiglu
    ? [`${column} / ${COLUMNS / 2}u`, `min(tile * ${COLUMNS / 2}u + ${column} % ${COLUMNS / 2}u, n - 1u)`]
    : ['matrix', `min(tile * ${COLUMNS}u + ${column}, n - 1u)`];

export const productProgram = variants((key: ProductKey): Program => {
  const { unit, rounded, weights, epilogue, rank, sliced } = key;
  const units = unitsOf(key);
  return program({
    name: `Decoding${weights.length > 1 ? ` x ${weights.length}` : ''}${unit === null ? '' : ' by units'}${rounded ? ', rounded' : ''}${rank > 0 ? ' + low rank' : ''}${sliced ? ', sliced' : ''} ${epilogue}`,
    ...(unit !== null && { directives: unitDirectives(unit), ...(unit.sized && { subgroup: unit.lanes }) }),
    parameters: ['m', 'k', 'n0', 'n1', 'n2', 'slice', 'skip', 'rowsAt', ...FINISH_PARAMETERS],
    buffers: {
      x: 'vec4<f32>',
      ...Object.fromEntries(
        weights.map((form, i) =>
          units === null ? [`w${i}`, elementType(form)] : [`b${i}`, unitsElement(units.format)],
        ),
      ),
      ...finishBuffers(key),
    },
    workgroup: LANES,
    declarations: `${units === null ? rowsDeclarations(key) : unitsDeclarations(units, weights.length)}
${finishDeclarations(key)}`,
    main: `
  let row0 = wg.x * ${key.rows}u;
  let slice = wg.z;
${findTile(key)}
  let begin = slice * p.slice;
  let end = min(p.k, begin + p.slice);
${units === null ? rowsTile(key) : unitsStatements(units, (column) => lineOf(epilogue === 'swiglu', column), 'sumsOfTile')}
  workgroupBarrier();
${finishTile(key)}`,
  });
});

/** How units read the matrices, all in one format. */
function unitsOf({ unit, rounded, weights }: Pick<ProductKey, 'unit' | 'rounded' | 'weights'>): UnitsReading | null {
  if (unit === null) return null;
  const format = weights[0]?.format ?? 'bf16';
  if (format === 'f32') throw new Error('Expected weights that units take');
  return { unit, format, rounded };
}

const rowsDeclarations = ({ weights }: ProductKey): string => {
  const choices = weights.map((_, i) => `if (part == ${i}u) { return readW${i}(line, at, lines, length); }`);
  return `${weights.map((form, i) => readFour(`readW${i}`, `w${i}`, form)).join('\n')}
fn readW(part: u32, line: u32, at: u32, lines: u32, length: u32) -> vec4<f32> {
  ${choices.slice(1).join('\n  ')}
  return readW0(line, at, lines, length);
}
var<workgroup> teamSums: array<vec4<f32>, ${LANES * ROWS_TOGETHER}>;`;
};

/** Sixteen lines at a time, in turn: the tile's lines come from memory one after the other whatever their order is. */
function rowsTile({ rows, epilogue }: ProductKey): string {
  const all = range(rows);
  const lines = range(LINES);
  const turns = COLUMNS / TEAMS / LINES;
  const of = (l: number): readonly [string, string] =>
    lineOf(epilogue === 'swiglu', `(turn * ${TEAMS * LINES}u + team * ${LINES}u + ${l}u)`);
  const rounds = range(rows / ROWS_TOGETHER).map((i) => all.slice(i * ROWS_TOGETHER, (i + 1) * ROWS_TOGETHER));
  const results = TEAMS * LINES * ROWS_TOGETHER;
  return `
  let team = lane / ${TEAM}u;
  let me = lane % ${TEAM}u;
${all.map((r) => `  let x${r} = p.rowsAt + min(row0 + ${r}u, p.m - 1u) * (p.k / 4u);`).join('\n')}
  for (var turn = 0u; turn < ${turns}u; turn++) {
${lines.map((l) => `    let part${l} = ${of(l)[0]};\n    let line${l} = ${of(l)[1]};`).join('\n')}
${all.map((r) => `    var s${r} = vec4<f32>(0.0);`).join('\n')}
    for (var at = begin + 4u * me; at < end; at += ${STEP}u) {
${lines.map((l) => `      let w${l} = readW(part${l}, line${l}, at, n, p.k);`).join('\n')}
${all
  .map(
    (r) =>
      `      let v${r} = x[x${r} + at / 4u];\n      s${r} += vec4(${lines.map((l) => `dot(v${r}, w${l})`).join(', ')});`,
  )
  .join('\n')}
    }
${rounds
  .map(
    (some, round) => `${some.map((r, i) => `    teamSums[${i * LANES}u + lane] = s${r};`).join('\n')}
    workgroupBarrier();
    for (var result = lane; result < ${results}u; result += ${LANES}u) {
      let column = result % ${TEAMS * LINES}u;
      let start = result / ${TEAMS * LINES}u * ${LANES}u + column / ${LINES}u * ${TEAM}u;
      var sum = 0.0;
      // Starting elsewhere for each line keeps the lanes on different banks.
      for (var i = 0u; i < ${TEAM}u; i++) { sum += teamSums[start + (i + lane) % ${TEAM}u][column % ${LINES}u]; }
      sumsOfTile[(${round * ROWS_TOGETHER}u + result / ${TEAMS * LINES}u) * ${COLUMNS}u + turn * ${TEAMS * LINES}u + column] = sum;
    }
    workgroupBarrier();`,
  )
  .join('\n')}
  }`;
}

/** The norm's numerator of what a row begins with, and what the first product needs of it. */
const startProgram = variants(
  (key: FinishKey): Program =>
    program({
      name: 'Decoding start',
      parameters: ['m', 'k', 'n0', 'skip', ...FINISH_PARAMETERS],
      buffers: { x: 'vec4<f32>', ...finishBuffers(key) },
      workgroup: LANES,
      declarations: finishDeclarations(key),
      main: `
  let row0 = wg.x * ${key.rows}u;
  let tile = wg.y;
  for (var id = lane; id < ${(key.rows * COLUMNS) / 4}u; id += ${LANES}u) {
    let row = min(row0 + id / ${COLUMNS / 4}u, p.m - 1u);
    let column = min(tile * ${COLUMNS / 4}u + id % ${COLUMNS / 4}u, p.width - 1u);
    let value = x[row * p.width + column];
    ${range(4)
      .map((c) => `sumsOfTile[4u * id + ${c}u] = value[${c}];`)
      .join('\n    ')}
  }
  workgroupBarrier();
${finishTile(key)}`,
    }),
);

/** Where things lie in their buffers, in vectors of four numbers. */
export interface Incoming {
  readonly buffer: GpuBuffer;
  /** The rows' first number. */
  readonly at: number;
  /** What each of `parts` tiles left of the rows: squares, and low-rank numbers of `lines` vectors. */
  readonly parts: number;
  readonly squares: number;
  readonly low: number;
  readonly lines: number;
}

/** What a following adapter reads of the result. */
export interface Outgoing {
  /** A of it, in `extra`. */
  readonly a: number;
  /** Where the tiles' low-rank numbers go, of `lines` vectors a row. */
  readonly low: number;
  readonly lines: number;
}

export interface DecodeProduct {
  readonly x: Incoming;
  /** Rows that the buffers have room for: whole tiles. */
  readonly room: number;
  /** [n, k] each, up to three; two of the same size for swiglu. */
  readonly weights: readonly Matrix[];
  /** Of the norm before; null: there is none. */
  readonly eps: number | null;
  /** Small matrices and vectors of this product, one after the other. */
  readonly extra: GpuBuffer | null;
  /** B [Σ n, rank] in `extra`. */
  readonly low: { readonly b: number; readonly rank: number; readonly scale: number } | null;
  /** [Σ n] in `extra`. */
  readonly bias: number | null;
  readonly epilogue: 'store' | 'residual' | 'swiglu';
  /** Where the result lies in its buffer, and how wide its rows are: numbers where it is stored, else vectors. */
  readonly place: { readonly at: number; readonly width: number };
  /** After a residual: the next norm's weight in `extra`, its numerator and the squares in the result's buffer. */
  readonly norm: { readonly gain: number; readonly at: number; readonly squares: number } | null;
  readonly next: Outgoing | null;
  /** For slices, cleared once (`sumWords`). */
  readonly sums: GpuBuffer;
}

interface Plan {
  readonly unit: MatrixUnit | null;
  readonly rows: number;
  readonly bands: number;
  readonly tiles: number;
  readonly slices: Slices;
}

/** What decides how a product is divided, besides the adapter. */
export interface Divided {
  readonly weights: readonly Matrix[];
  readonly rank: number;
  readonly swiglu: boolean;
}

/** By the shapes and the adapter alone. */
function planOf(backend: WebGpuBackend, divided: Divided, room: number): Plan {
  const { weights, swiglu } = divided;
  const unit = unitFor(backend, divided);
  const rows = rowsOf(backend, unit !== null);
  const k = weights[0]?.length ?? 0;
  const tiles = swiglu
    ? Math.ceil((weights[0]?.lines ?? 0) / (COLUMNS / 2))
    : weights.reduce((sum, { lines }) => sum + Math.ceil(lines / COLUMNS), 0);
  const wanted = unit === null ? Math.ceil(BUSY_GROUPS / tiles) : Math.floor(TILES['few rows'].enough / tiles);
  const slices = cut(k, Math.min(wanted, Math.floor(k / LEAST_SLICE)), unit === null ? STEP : DEPTH);
  return { unit, rows, bands: Math.ceil(room / rows), tiles, slices };
}

/** The unit, where it takes the weights and the workgroup's memory holds its panels and what follows. */
function unitFor(backend: WebGpuBackend, { weights, rank, swiglu }: Divided): MatrixUnit | null {
  const unit = takenUnit(backend, MOST_ROWS, weights);
  const reading = unitsOf({ unit, rounded: false, weights: weights.map(formOf) });
  if (reading === null) return null;
  const after = finishNumbers({ ...PLAIN, rows: MOST_ROWS, rank, epilogue: swiglu ? 'swiglu' : 'store' });
  return unitsMemory(reading) + 4 * after <= backend.gpu.adapter.limits.maxComputeWorkgroupStorageSize ? unit : null;
}

const ticketsOf = ({ bands, tiles }: Plan): number => Math.ceil((bands * tiles) / 4) * 4;

/** Words that a product's slices need; they are 0 before it and after it. */
export function sumWords(backend: WebGpuBackend, divided: Divided, room: number): number {
  const plan = planOf(backend, divided, room);
  if (plan.slices.count === 1) return 0;
  return ticketsOf(plan) + plan.bands * plan.tiles * plan.slices.count * plan.rows * COLUMNS;
}

/** The parameters of FINISH_PARAMETERS. */
function finishParameters(call: Omit<DecodeProduct, 'weights' | 'epilogue'>, plan: Plan): readonly number[] {
  const { x, low, bias, place, norm, next, eps, room } = call;
  return [
    ...[plan.slices.count, room, ticketsOf(plan), x.parts, x.low, x.lines, x.squares, low?.scale ?? 0, eps ?? 0],
    ...[low?.b ?? 0, bias ?? 0, norm?.gain ?? 0, next?.a ?? 0, place.width, place.at, norm?.at ?? 0],
    ...[norm?.squares ?? 0, next?.low ?? 0, next?.lines ?? 0],
  ];
}

const keyOf = (
  { low, bias, eps, next }: Pick<DecodeProduct, 'low' | 'bias' | 'eps' | 'next'>,
  { rows, slices }: Plan,
  epilogue: FinishKey['epilogue'],
): FinishKey => ({
  rows,
  rank: low?.rank ?? 0,
  bias: bias !== null,
  sliced: slices.count > 1,
  normed: eps !== null,
  epilogue,
  next: next !== null,
});

/** Runs a product for the first so many rows of its buffers. */
export type RunProduct = (rows: number, out: GpuBuffer) => void;

/** What is the same at every token is found once. */
export function openProduct(backend: WebGpuBackend, call: DecodeProduct): RunProduct {
  const { gpu } = backend;
  const { x, room, weights, epilogue, extra, sums } = call;
  const plan = planOf(backend, { weights, rank: call.low?.rank ?? 0, swiglu: epilogue === 'swiglu' }, room);
  const key: ProductKey = {
    ...keyOf(call, plan, epilogue),
    unit: plan.unit,
    rounded: plan.unit?.element === 'f16' && roundsProducts(),
    weights: weights.map(readAs(plan)),
  };
  const code = productProgram(key);
  const k = weights[0]?.length ?? 0;
  const [n0 = 0, n1 = 0, n2 = 0] = weights.map(({ lines }) => lines);
  const buffers = [
    x.buffer,
    ...weights.map(({ buffer }) => buffer),
    ...(extra !== null && 'extra' in finishBuffers(key) ? [extra] : []),
    ...(key.sliced ? [sums] : []),
  ];
  const after = [x.at, ...finishParameters(call, plan)];
  return (rows, out) => {
    const bands = Math.ceil(rows / plan.rows);
    for (const part of equalParts(plan.tiles, 2 * COLUMNS * rows * k, gpu.mostWork))
      gpu.run(
        code,
        [...buffers, out],
        [rows, k, n0, n1, n2, plan.slices.length, part.first, ...after],
        [bands, part.count, plan.slices.count],
        part.work,
      );
  };
}

/** Programs that differ in nothing are one: units read whole lines in any case. */
const readAs =
  ({ unit }: Plan) =>
  (matrix: Matrix): OperandForm =>
    unit === null ? formOf(matrix) : { format: matrix.format, vectors: true };

/** Takes float32 rows of x [rows, width] for the residual, `out`. */
export function decodeStart(
  backend: WebGpuBackend,
  rowsOfX: GpuBuffer,
  call: Omit<DecodeProduct, 'x' | 'weights' | 'epilogue' | 'low' | 'bias' | 'eps' | 'sums'>,
  count: number,
  out: GpuBuffer,
): void {
  const rows = rowsOf(backend, false);
  const tiles = Math.ceil((4 * call.place.width) / COLUMNS);
  const plan: Plan = { unit: null, rows, bands: 1, tiles, slices: { count: 1, length: 0 } };
  const whole = {
    ...call,
    x: { buffer: rowsOfX, at: 0, parts: 0, squares: 0, low: 0, lines: 0 },
    low: null,
    bias: null,
    eps: null,
    sums: rowsOfX,
  };
  const key = keyOf(whole, plan, 'start');
  backend.gpu.run(
    startProgram(key),
    [rowsOfX, ...(call.extra === null ? [] : [call.extra]), out],
    [count, 4 * call.place.width, 4 * call.place.width, 0, ...finishParameters(whole, plan)],
    [Math.ceil(count / rows), tiles, 1],
  );
}

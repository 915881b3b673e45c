/**
 * x·Wᵀ for few rows of x, as in decoding, with what follows it: the weights are the traffic, so each is read once for all
 * rows. A workgroup has some lines; 32 lanes share a line, and each multiplies its part with that part
 * of every row. Several matrices on the same rows, their low-rank parts and biases ride in one dispatch; only where the
 * lines are few and long, K is in slices and a second dispatch does what follows.
 */
import type { WebGpuBackend } from '../backend.ts';
import type { GpuBuffer } from '../pool.ts';
import { type Program, program, range, variants } from '../program.ts';
import { equalParts } from '../work.ts';
import { expDownOf } from './finite.ts';
import { formOf, type Matrix, type Second } from './matrix.ts';
import { elementType, type OperandForm, readFour } from './operand.ts';
import { takenUnit, unitsProduct } from './product-by-units.ts';
import { cut, type Epilogue, finishSlices, type Slices } from './product-slices.ts';
import { findMatrix } from './side-by-side.ts';

/** More rows than this are a tiled product. */
const MOST_ROWS = 32;

/**
 * Rows that a lane sums for at a time; more are further workgroups. Those of the same lines come one after the other
 * (x before y), so that all but the first find the weights in the cache, however large the matrix is.
 */
const ROWS_AT_A_TIME = 16;

/** On a processor: its compiler takes most of a minute for sixteen rows, and has no cache to miss. */
const SOFTWARE_ROWS_AT_A_TIME = 4;

const LANES = 32;
/** Groups of 32 lanes in a workgroup. */
const TEAMS = 4;
/** Lines of W that a team works on together: each number of x is then used for all of them. Two where there are few. */
const MOST_LINES = 4;
/** Workgroups that are enough to give each of them more lines. */
const ENOUGH_GROUPS = 256;
/** Rows whose sums the lanes put together at a time: as many as the workgroup's memory holds. */
const ROWS_TOGETHER = 4;

/** Workgroups that keep a large GPU's memory busy: where there are fewer, K is cut into slices of so much at least. */
const BUSY_GROUPS = 768;
const LEAST_SLICE = 512;

interface Key {
  /** One to three matrices, whose results lie side by side; two for swiglu. */
  readonly weights: readonly OperandForm[];
  readonly rows: number;
  /** Of a team. */
  readonly lines: number;
  readonly second: { readonly a: OperandForm; readonly b: OperandForm } | null;
  readonly bias: boolean;
  readonly epilogue: Epilogue;
  /** A workgroup's z is a slice of K, whose sums are a matrix of their own. */
  readonly sliced: boolean;
}

/** Whether a product is one for this kernel. */
export function takesRows(a: Matrix, b: Matrix, batch: number, accumulate: boolean): boolean {
  const plain = batch === 1 && !accumulate && !a.transposed && b.transposed;
  return plain && a.lines <= MOST_ROWS && formOf(b).vectors;
}

/** The rows that a lane sums for: the next power of two, so that few programs are compiled. */
const rowsFor = (rows: number, most: number): number => Math.min(most, 2 ** Math.ceil(Math.log2(rows)));

const rowsProgram = variants((key: Key): Program => {
  const { weights, rows, lines, second, bias, epilogue, sliced } = key;
  const all = range(rows);
  return program({
    name: `Product of rows${weights.length > 1 ? ` x ${weights.length}` : ''}${second === null ? '' : ' + low rank'}${epilogue === 'store' ? '' : ` ${epilogue}`}`,
    parameters: ['m', 'k', 'r', 'n0', 'n1', 'n2', 'scale:f32', 'columns', 'first', 'skip', 'slice'],
    buffers: {
      x: 'vec4<f32>',
      ...Object.fromEntries(weights.map((form, i) => [`w${i}`, elementType(form)])),
      ...(second && { x2: elementType(second.a), w2nd: elementType(second.b) }),
      ...(bias && { bias: 'f32' }),
      out: 'rw f32',
    },
    workgroup: TEAMS * LANES,
    declarations: `
${weights.map((form, i) => readFour(`readW${i}`, `w${i}`, form)).join('\n')}
${second === null ? '' : `${readFour('readX2', 'x2', second.a)}\n${readFour('readW2nd', 'w2nd', second.b)}`}
var<private> part: u32;
${chooseWeight(weights.length)}
${epilogue === 'swiglu' ? expDownOf('f32') : ''}
var<workgroup> sums: array<${vectorOf(lines)}, ${TEAMS * LANES * Math.min(rows, ROWS_TOGETHER)}>;`,
    main: `
  let team = lane / ${LANES}u;
  let me = lane % ${LANES}u;
  let row0 = (wg.x + p.skip) * ${rows}u;
${places(key)}
${all.map((r) => `  var s${r} = ${vectorOf(lines)}(0.0);`).join('\n')}
${all.map((r) => `  let x${r} = min(row0 + ${r}u, p.m - 1u) * (p.k / 4u);`).join('\n')}
  let end = ${sliced ? 'min(p.k, (wg.z + 1u) * p.slice)' : 'p.k'};
  for (var at = ${sliced ? 'wg.z * p.slice + ' : ''}4u * me; at < end; at += ${4 * LANES}u) {
${range(lines)
  .map((l) => `    part = part${l};\n    let w${l} = readW(line${l}, at, length${l}, p.k);`)
  .join('\n')}
${all
  .map(
    (r) =>
      `    let v${r} = x[x${r} + at / 4u];\n    s${r} += ${vectorOf(lines)}(${range(lines)
        .map((l) => `dot(v${r}, w${l})`)
        .join(', ')});`,
  )
  .join('\n')}
  }
${second === null ? '' : lowRank(key)}
${together(key)}`,
  });
});

/** A function that reads a line of matrix number `part`. */
function chooseWeight(matrices: number): string {
  const reads = range(matrices).map((i) => `readW${i}(line, at, lines, length)`);
  const choices = reads.slice(0, -1).map((read, i) => `  if (part == ${i}u) { return ${read}; }`);
  return `fn readW(line: u32, at: u32, lines: u32, length: u32) -> vec4<f32> {
${choices.join('\n')}
  return ${reads.at(-1)};
}`;
}

const vectorOf = (lines: number): string => `vec${lines}<f32>`;

/** Declares of each of a team's lines: its matrix, its place in it, and its place among the lines of all of them. */
function places({ weights, lines, epilogue }: Key): string {
  if (epilogue === 'swiglu')
    return `  let column0 = wg.y * ${(TEAMS * lines) / 2}u + team * ${lines / 2}u;
  let n = p.n0;
${range(lines)
  .map((l) => {
    const part = Math.floor((2 * l) / lines);
    return `  let part${l} = ${part}u;
  let length${l} = p.n${part};
  let line${l} = column0 + ${l % (lines / 2)}u;
  let packed${l} = line${l} + ${part === 0 ? '0u' : 'p.n0'};`;
  })
  .join('\n')}`;
  return `${findMatrix(weights.length, TEAMS * lines, 'wg.y')}
  let column0 = tile * ${TEAMS * lines}u + team * ${lines}u;
${range(lines)
  .map(
    (l) => `  let part${l} = matrix;
  let length${l} = n;
  let line${l} = column0 + ${l}u;
  let packed${l} = before + min(line${l}, n - 1u);`,
  )
  .join('\n')}`;
}

/** Adds the low-rank parts: each row has one set of r numbers for each matrix. */
function lowRank({ rows, lines, weights, epilogue }: Key): string {
  const parts = weights.length;
  const each = (r: number): string => {
    const v = (part: string): string => `readX2((row0 + ${r}u) * ${parts}u + ${part}, at, p.m * ${parts}u, p.r)`;
    const [a, b] = epilogue === 'swiglu' ? [v('0u'), v('1u')] : [v('part0'), null];
    return `    {
      let a = p.scale * ${a};
      ${b === null ? 'let b = a;' : `let b = p.scale * ${b};`}
      s${r} += ${vectorOf(lines)}(${range(lines)
        .map((l) => `dot(${l < lines / 2 ? 'a' : 'b'}, w${l})`)
        .join(', ')});
    }`;
  };
  const all = `(${range(parts)
    .map((i) => `p.n${i}`)
    .join(' + ')})`;
  return `
  for (var at = 4u * me; at < p.r; at += ${4 * LANES}u) {
${range(lines)
  .map((l) => `    let w${l} = readW2nd(packed${l}, at, ${all}, p.r);`)
  .join('\n')}
${range(rows).map(each).join('\n')}
  }`;
}

/** Adds up the lanes' sums, some rows at a time, and writes what becomes of them. */
function together({ rows, lines, bias, epilogue, sliced }: Key): string {
  const columns = TEAMS * lines;
  const rounds = range(Math.ceil(rows / ROWS_TOGETHER)).map((i) =>
    range(rows).slice(i * ROWS_TOGETHER, (i + 1) * ROWS_TOGETHER),
  );
  const results = epilogue === 'swiglu' ? columns / 2 : columns;
  const perTeam = results / TEAMS;
  const total = (name: string, line: string): string => `    var ${name} = 0.0;
    // Starting elsewhere for each line keeps the lanes on different banks.
    for (var i = 0u; i < ${LANES}u; i++) { ${name} += sums[start + (i + lane) % ${LANES}u][${line}]; }`;
  const first = epilogue === 'swiglu' ? `wg.y * ${results}u` : `tile * ${columns}u`;
  const before = epilogue === 'swiglu' ? '0u' : 'before';
  const write = (): string => {
    const biased = bias ? ` + bias[${before} + column]` : '';
    if (epilogue === 'swiglu')
      return `${total('gate', `result % ${perTeam}u`)}
${total('up', `${perTeam}u + result % ${perTeam}u`)}
    if (row < p.m && column < n) { out[place] = gate / (1.0 + expDown(gate)) * up; }`;
    return `${total('sum', `result % ${perTeam}u`)}
    if (row < p.m && column < n) { out[place] ${epilogue === 'add' ? '+=' : '='} sum${biased}; }`;
  };
  return rounds
    .map(
      (some, round) => `${round === 0 ? '' : '  workgroupBarrier();'}
${some.map((r, i) => `  sums[${i * TEAMS * LANES}u + lane] = s${r};`).join('\n')}
  workgroupBarrier();
  if (lane < ${results * some.length}u) {
    let row = row0 + ${round * ROWS_TOGETHER}u + lane / ${results}u;
    let result = lane % ${results}u;
    let column = ${first} + result;
    let place = ${sliced ? 'wg.z * p.m * p.columns + ' : ''}row * p.columns + p.first + ${before} + column;
    let start = (lane / ${results}u) * ${TEAMS * LANES}u + (result / ${perTeam}u) * ${LANES}u;
${write()}
  }`,
    )
    .join('\n');
}

/** Matrices on the same rows, and what is added to their products. */
export interface RowsProduct {
  /** float32, lines of a multiple of four. */
  readonly x: GpuBuffer;
  readonly rows: number;
  /** [n, k] each, at most three; two for swiglu. */
  readonly weights: readonly Matrix[];
  /** a [rows * matrices, r]: of each row the low-rank numbers of each matrix; b [Σ n, r]. */
  readonly second?: Second;
  /** [Σ n] */
  readonly bias?: GpuBuffer;
  readonly epilogue?: Epilogue;
  /** [rows, Σ n], or [rows, n] of swiglu. */
  readonly out: GpuBuffer;
  /** Where `out` is wider than the result: its columns, and the first to be written. */
  readonly place?: { readonly columns: number; readonly first: number };
  /** Default: what suits the adapter. */
  readonly rowsAtATime?: number;
}

export function rowsProducts(backend: WebGpuBackend, call: RowsProduct): void {
  const { gpu } = backend;
  const { x, rows, weights, epilogue = 'store' } = call;
  const { rowsAtATime = gpu.adapter.software ? SOFTWARE_ROWS_AT_A_TIME : ROWS_AT_A_TIME } = call;
  const widths = weights.map(({ lines }) => lines);
  const n = widths.reduce((sum, width) => sum + width, 0);
  const k = weights[0]?.length ?? 0;
  const place = call.place ?? { columns: epilogue === 'swiglu' ? n / 2 : n, first: 0 };
  const unit = takenUnit(backend, rows, weights);
  if (unit !== null) {
    unitsProduct(backend, unit, { ...call, m: rows, epilogue, place });
    return;
  }
  const wanted = Math.ceil(BUSY_GROUPS / groupsOf(widths, MOST_LINES));
  const slices = cut(k, Math.min(wanted, Math.floor(k / LEAST_SLICE)), 4 * LANES);
  if (slices.count > 1) {
    const sums = gpu.take(4 * slices.count * rows * n);
    const part = { x, rows, weights, rowsAtATime, out: sums };
    runRows(backend, { ...part, epilogue: 'store', place: { columns: n, first: 0 } }, slices);
    finishSlices(gpu, { ...call, sums, slices: slices.count, m: rows, widths, epilogue, place });
    gpu.give(sums);
  } else runRows(backend, { ...call, epilogue, rowsAtATime, place }, slices);
}

const groupsOf = (widths: readonly number[], lines: number): number =>
  widths.reduce((sum, width) => sum + Math.ceil(width / (TEAMS * lines)), 0);

type Whole = RowsProduct & Required<Pick<RowsProduct, 'epilogue' | 'rowsAtATime' | 'place'>>;

function runRows({ gpu }: WebGpuBackend, call: Whole, slices: Slices): void {
  const { x, rows, weights, second, bias, epilogue, out, place, rowsAtATime } = call;
  const widths = weights.map(({ lines }) => lines);
  const [n0 = 0, n1 = 0, n2 = 0] = widths;
  const lines = groupsOf(widths, MOST_LINES) * slices.count < ENOUGH_GROUPS ? 2 : MOST_LINES;
  const groups = epilogue === 'swiglu' ? Math.ceil((2 * n0) / (TEAMS * lines)) : groupsOf(widths, lines);
  const key: Key = {
    weights: weights.map(formOf),
    rows: rowsFor(rows, rowsAtATime),
    lines,
    second: second === undefined ? null : { a: formOf(second.a), b: formOf(second.b) },
    bias: bias !== undefined,
    epilogue,
    sliced: slices.count > 1,
  };
  const buffers = [
    x,
    ...weights.map(({ buffer }) => buffer),
    ...(second === undefined ? [] : [second.a.buffer, second.b.buffer]),
    ...(bias === undefined ? [] : [bias]),
    out,
  ];
  const [k, r] = [weights[0]?.length ?? 0, second?.a.length ?? 0];
  const parameters = [rows, k, r, n0, n1, n2, second?.scale ?? 1, place.columns, place.first];
  const each = 2 * key.rows * (n0 + n1 + n2) * (k + r);
  for (const { first, count, work } of equalParts(Math.ceil(rows / key.rows), each, gpu.mostWork))
    gpu.run(rowsProgram(key), buffers, [...parameters, first, slices.length], [count, groups, slices.count], work);
}

/** One product of few rows: x·wᵀ (+ scale·a·bᵀ). */
export function rowsProduct(
  backend: WebGpuBackend,
  x: Matrix,
  w: Matrix,
  out: GpuBuffer,
  second?: Second,
  place?: RowsProduct['place'],
): void {
  const call = { x: x.buffer, rows: x.lines, weights: [w], out };
  rowsProducts(backend, { ...call, ...(second && { second }), ...(place && { place }) });
}

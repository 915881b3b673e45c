/**
 * x·Wᵀ for few rows of x, as in decoding: the weights are the traffic, so each is read once for all rows. A workgroup
 * has some lines of W; 32 lanes share a line, and each multiplies its part with that part of every row. Several
 * matrices on the same rows, their low-rank parts, biases and what follows a product ride in the same dispatch.
 */
import type { WebGpuBackend } from '../backend.ts';
import type { GpuBuffer } from '../pool.ts';
import { type Program, program, variants } from '../program.ts';
import { equalParts } from '../work.ts';
import { expDownOf } from './finite.ts';
import { formOf, type Matrix, type Second } from './matrix.ts';
import { elementType, type OperandForm, readFour } from './operand.ts';

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
/** Lines of W that a team works on together: each number of x is then used for all of them. */
const LINES = 4;
/** Lines of a workgroup. */
const COLUMNS = TEAMS * LINES;
/** Rows whose sums the lanes put together at a time: as many as the workgroup's memory holds. */
const ROWS_TOGETHER = 4;

/** What becomes of a sum: written, added to what is there, or, of two matrices, silu(first) * second. */
export type Epilogue = 'store' | 'add' | 'swiglu';

interface Key {
  /** One to three matrices, whose results lie side by side; two for swiglu. */
  readonly weights: readonly OperandForm[];
  readonly rows: number;
  readonly second: { readonly a: OperandForm; readonly b: OperandForm } | null;
  readonly bias: boolean;
  readonly epilogue: Epilogue;
}

/** Whether a product is one for this kernel. */
export function takesRows(a: Matrix, b: Matrix, batch: number, accumulate: boolean): boolean {
  return batch === 1 && !accumulate && !a.transposed && b.transposed && a.lines <= MOST_ROWS && formOf(b).vectors;
}

/** The rows that a lane sums for: the next power of two, so that few programs are compiled. */
const rowsFor = (rows: number, most: number): number => Math.min(most, 2 ** Math.ceil(Math.log2(rows)));

const range = (length: number): number[] => Array.from({ length }, (_, i) => i);

const rowsProgram = variants((key: Key): Program => {
  const { weights, rows, second, bias, epilogue } = key;
  const all = range(rows);
  return program({
    name: `Product of rows${weights.length > 1 ? ` x ${weights.length}` : ''}${second === null ? '' : ' + low rank'}${epilogue === 'store' ? '' : ` ${epilogue}`}`,
    parameters: ['m', 'k', 'r', 'n0', 'n1', 'n2', 'scale:f32', 'columns', 'first', 'skip'],
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
${chooseWeight(weights.length)}
${epilogue === 'swiglu' ? expDownOf('f32') : ''}
var<workgroup> sums: array<vec4<f32>, ${TEAMS * LANES * Math.min(rows, ROWS_TOGETHER)}>;`,
    main: `
  let team = lane / ${LANES}u;
  let me = lane % ${LANES}u;
  let row0 = (wg.x + p.skip) * ${rows}u;
${places(key)}
${all.map((r) => `  var s${r} = vec4<f32>(0.0);`).join('\n')}
${all.map((r) => `  let x${r} = min(row0 + ${r}u, p.m - 1u) * (p.k / 4u);`).join('\n')}
  for (var at = 4u * me; at < p.k; at += ${4 * LANES}u) {
${range(LINES)
  .map((l) => `    let w${l} = readW(part${l}, line${l}, at);`)
  .join('\n')}
${all.map((r) => `    let v${r} = x[x${r} + at / 4u];\n    s${r} += vec4(dot(v${r}, w0), dot(v${r}, w1), dot(v${r}, w2), dot(v${r}, w3));`).join('\n')}
  }
${second === null ? '' : lowRank(key)}
${together(key)}`,
  });
});

/** A function that reads a line of one of the matrices. */
function chooseWeight(count: number): string {
  const lengths = range(count).map((i) => `p.n${i}`);
  const reads = lengths.map((length, i) => `readW${i}(line, at, ${length}, p.k)`);
  const choices = reads.slice(0, -1).map((read, i) => `  if (part == ${i}u) { return ${read}; }`);
  return `fn readW(part: u32, line: u32, at: u32) -> vec4<f32> {
${choices.join('\n')}
  return ${reads.at(-1)};
}`;
}

/** Declares of each of a team's lines: its matrix, its place in it, and its place among the lines of all of them. */
function places({ weights, epilogue }: Key): string {
  if (epilogue === 'swiglu')
    return `  let column0 = wg.y * ${COLUMNS / 2}u + team * ${LINES / 2}u;
  let columns = p.n0;
${range(LINES)
  .map((l) => {
    const part = Math.floor(l / 2);
    return `  let part${l} = ${part}u;
  let line${l} = column0 + ${l % 2}u;
  let packed${l} = line${l} + ${part === 0 ? '0u' : 'p.n0'};`;
  })
  .join('\n')}`;
  const groups = range(weights.length).map((i) => `(p.n${i} + ${COLUMNS - 1}u) / ${COLUMNS}u`);
  return `  var part = 0u;
  var first = wg.y;
  var before = 0u;
  var columns = p.n0;
${groups
  .slice(0, -1)
  .map(
    (count, i) => `  if (part == ${i}u && first >= ${count}) {
    part = ${i + 1}u;
    first -= ${count};
    before += p.n${i};
    columns = p.n${i + 1};
  }`,
  )
  .join('\n')}
  let column0 = first * ${COLUMNS}u + team * ${LINES}u;
${range(LINES)
  .map(
    (l) => `  let part${l} = part;
  let line${l} = column0 + ${l}u;
  let packed${l} = before + min(line${l}, columns - 1u);`,
  )
  .join('\n')}`;
}

/** Adds the low-rank parts: each row has one set of r numbers for each matrix. */
function lowRank({ rows, weights, epilogue }: Key): string {
  const parts = weights.length;
  const each = (r: number): string => {
    const v = (part: string): string => `readX2((row0 + ${r}u) * ${parts}u + ${part}, at, p.m * ${parts}u, p.r)`;
    const [a, b] = epilogue === 'swiglu' ? [v('0u'), v('1u')] : [v('part0'), null];
    return `    {
      let a = p.scale * ${a};
      ${b === null ? 'let b = a;' : `let b = p.scale * ${b};`}
      s${r} += vec4(dot(a, w0), dot(a, w1), dot(b, w2), dot(b, w3));
    }`;
  };
  const all = `(${range(parts)
    .map((i) => `p.n${i}`)
    .join(' + ')})`;
  return `
  for (var at = 4u * me; at < p.r; at += ${4 * LANES}u) {
${range(LINES)
  .map((l) => `    let w${l} = readW2nd(packed${l}, at, ${all}, p.r);`)
  .join('\n')}
${range(rows).map(each).join('\n')}
  }`;
}

/** Adds up the lanes' sums, some rows at a time, and writes what becomes of them. */
function together({ rows, bias, epilogue }: Key): string {
  const rounds = range(Math.ceil(rows / ROWS_TOGETHER)).map((i) =>
    range(rows).slice(i * ROWS_TOGETHER, (i + 1) * ROWS_TOGETHER),
  );
  const results = epilogue === 'swiglu' ? COLUMNS / 2 : COLUMNS;
  const perTeam = results / TEAMS;
  const total = (name: string, line: string): string => `    var ${name} = 0.0;
    // Starting elsewhere for each line keeps the lanes on different banks.
    for (var i = 0u; i < ${LANES}u; i++) { ${name} += sums[start + (i + lane) % ${LANES}u][${line}]; }`;
  const first = epilogue === 'swiglu' ? `wg.y * ${results}u` : `first * ${COLUMNS}u`;
  const before = epilogue === 'swiglu' ? '0u' : 'before';
  const write = (): string => {
    const biased = bias ? ` + bias[${before} + column]` : '';
    if (epilogue === 'swiglu')
      return `${total('gate', `result % ${perTeam}u`)}
${total('up', `${perTeam}u + result % ${perTeam}u`)}
    if (row < p.m && column < columns) { out[place] = gate / (1.0 + expDown(gate)) * up; }`;
    return `${total('sum', `result % ${perTeam}u`)}
    if (row < p.m && column < columns) { out[place] ${epilogue === 'add' ? '+=' : '='} sum${biased}; }`;
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
    let place = row * p.columns + p.first + ${before} + column;
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

export function rowsProducts({ gpu }: WebGpuBackend, call: RowsProduct): void {
  const { x, rows, weights, second, bias, epilogue = 'store', out } = call;
  const { rowsAtATime = gpu.adapter.software ? SOFTWARE_ROWS_AT_A_TIME : ROWS_AT_A_TIME } = call;
  const [n0 = 0, n1 = 0, n2 = 0] = weights.map(({ lines }) => lines);
  const { place = { columns: epilogue === 'swiglu' ? n0 : n0 + n1 + n2, first: 0 } } = call;
  const key: Key = {
    weights: weights.map(formOf),
    rows: rowsFor(rows, rowsAtATime),
    second: second === undefined ? null : { a: formOf(second.a), b: formOf(second.b) },
    bias: bias !== undefined,
    epilogue,
  };
  const groups =
    epilogue === 'swiglu'
      ? Math.ceil((2 * n0) / COLUMNS)
      : weights.reduce((sum, { lines }) => sum + Math.ceil(lines / COLUMNS), 0);
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
    gpu.run(rowsProgram(key), buffers, [...parameters, first], [count, groups, 1], work);
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

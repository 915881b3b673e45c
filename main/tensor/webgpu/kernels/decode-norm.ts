/**
 * What goes before a product in decoding: the norm of each row, and the rows' products with the adapter's A matrices.
 * A workgroup has a row and two lines of A: a row alone would leave most of a GPU idle, and the norm is soon made again.
 */
import type { WebGpuBackend } from '../backend.ts';
import type { GpuBuffer } from '../pool.ts';
import { program, range, variants } from '../program.ts';
import { joined, joining } from './reduce.ts';

const LANES = 256;
/** Lanes that share a line of A. */
const TEAM = 128;
const TEAMS = LANES / TEAM;
/** Lanes that add up a line's sums first, a part each. */
const ADDERS = 16;

/** Vectors that a lane reads at once: one after the other, each would wait for memory. */
const AT_A_TIME = 8;

/** Adds to `sum` what `term` gives for every `lanes`-th vector from `first` on; beyond the last, that one is read again. */
const summed = (sum: string, first: string, lanes: number, term: (i: string) => string): string => `
  for (var i = ${first}; i < vectors; i += ${AT_A_TIME * lanes}u) {
${range(AT_A_TIME)
  .map((n) => `    let i${n} = min(i + ${n * lanes}u, vectors - 1u);\n    let term${n} = ${term(`i${n}`)};`)
  .join('\n')}
    ${sum} += term0${range(AT_A_TIME)
      .slice(1)
      .map((n) => ` + select(0.0, term${n}, i + ${n * lanes}u < vectors)`)
      .join('')};
  }`;

interface Key {
  readonly norm: boolean;
  readonly low: boolean;
}

/** x [rows, width] → out, its norm; low [rows, lines] = out · Aᵀ, or x · Aᵀ where there is no norm. Width: a multiple of 4. */
const normProgram = variants(({ norm, low }: Key) =>
  program({
    name: `${norm ? 'RmsNorm' : ''}${norm && low ? ' + ' : ''}${low ? 'LowRank' : ''}`,
    parameters: ['width', 'lines', 'eps:f32'],
    buffers: {
      x: 'vec4<f32>',
      ...(norm && { weight: 'vec4<f32>', out: 'rw vec4<f32>' }),
      ...(low && { a: 'vec4<f32>', lowRank: 'rw f32' }),
    },
    workgroup: LANES,
    declarations: `fn join(a: f32, b: f32) -> f32 { return a + b; }
${norm ? joining('f32', LANES) : ''}
${low ? `var<workgroup> sums: array<f32, ${LANES}>;\nvar<workgroup> parts: array<f32, ${TEAMS * ADDERS}>;` : ''}`,
    main: `  let row = wg.x;
  let vectors = p.width / 4u;
  let base = row * vectors;
${
  norm
    ? `  var squares = 0.0;
${summed('squares', 'lane', LANES, (i) => `dot(x[base + ${i}], x[base + ${i}])`)}
${joined('all', 'squares', LANES)}
  let inverse = inverseSqrt(all / f32(p.width) + p.eps);
  // The row's workgroups share what there is to write.
  for (var i = wg.y * ${LANES}u + lane; i < vectors; i += wgs.y * ${LANES}u) { out[base + i] = x[base + i] * inverse * weight[i]; }`
    : ''
}
${
  low
    ? `  let me = lane % ${TEAM}u;
  let line = wg.y * ${TEAMS}u + lane / ${TEAM}u;
  // Beyond the last line it is read again, and not written.
  let start = min(line, p.lines - 1u) * vectors;
  var sum = 0.0;
${summed('sum', 'me', TEAM, (i) => `dot(x[base + ${i}]${norm ? ` * inverse * weight[${i}]` : ''}, a[start + ${i}])`)}
  sums[lane] = sum;
  workgroupBarrier();
  if (lane < ${TEAMS * ADDERS}u) {
    var part = 0.0;
    for (var i = lane % ${ADDERS}u; i < ${TEAM}u; i += ${ADDERS}u) { part += sums[lane / ${ADDERS}u * ${TEAM}u + i]; }
    parts[lane] = part;
  }
  workgroupBarrier();
  if (me == 0u && line < p.lines) {
    var total = 0.0;
    for (var i = 0u; i < ${ADDERS}u; i++) { total += parts[lane / ${TEAM}u * ${ADDERS}u + i]; }
    lowRank[row * p.lines + line] = total;
  }`
    : ''
}`,
  }),
);

export interface NormCall {
  readonly x: GpuBuffer;
  readonly rows: number;
  readonly width: number;
  readonly norm?: { readonly weight: GpuBuffer; readonly eps: number; readonly out: GpuBuffer };
  readonly low?: { readonly a: GpuBuffer; readonly lines: number; readonly out: GpuBuffer };
}

export function normAndLowRank({ gpu }: WebGpuBackend, { x, rows, width, norm, low }: NormCall): void {
  gpu.run(
    normProgram({ norm: norm !== undefined, low: low !== undefined }),
    [x, ...(norm === undefined ? [] : [norm.weight, norm.out]), ...(low === undefined ? [] : [low.a, low.out])],
    [width, low?.lines ?? 0, norm?.eps ?? 0],
    [rows, Math.max(1, Math.ceil((low?.lines ?? 0) / TEAMS)), 1],
  );
}

/**
 * What goes before a product in decoding: the norm of each row, and the rows' products with the adapter's A matrices.
 * A workgroup has a row and eight lines of A: a row alone would leave most of a GPU idle, and the norm is soon made again.
 */
import type { WebGpuBackend } from '../backend.ts';
import type { GpuBuffer } from '../pool.ts';
import { program, variants } from '../program.ts';
import { joined, joining } from './reduce.ts';

const LANES = 256;
/** Lanes that share a line of A. */
const TEAM = 32;
const TEAMS = LANES / TEAM;

/** Vectors that a lane reads at once: one after the other, each would wait for memory. */
const AT_A_TIME = 8;

const product = (norm: boolean, i: string): string =>
  `dot(x[base + ${i}]${norm ? ` * inverse * weight[${i}]` : ''}, a[line * vectors + ${i}])`;

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
${low ? `var<workgroup> sums: array<f32, ${LANES}>;` : ''}`,
    main: `  let row = wg.x;
  let vectors = p.width / 4u;
  let base = row * vectors;
${
  norm
    ? `  var squares = 0.0;
  for (var i = lane; i < vectors; i += ${LANES}u) { squares += dot(x[base + i], x[base + i]); }
${joined('all', 'squares', LANES)}
  let inverse = inverseSqrt(all / f32(p.width) + p.eps);
  if (wg.y == 0u) {
    for (var i = lane; i < vectors; i += ${LANES}u) { out[base + i] = x[base + i] * inverse * weight[i]; }
  }`
    : ''
}
${
  low
    ? `  let me = lane % ${TEAM}u;
  let line = wg.y * ${TEAMS}u + lane / ${TEAM}u;
  var sum = 0.0;
  if (line < p.lines) {
    var i = me;
    for (; i + ${(AT_A_TIME - 1) * TEAM}u < vectors; i += ${AT_A_TIME * TEAM}u) {
${Array.from({ length: AT_A_TIME }, (_, n) => `      let part${n} = ${product(norm, `i + ${n * TEAM}u`)};`).join('\n')}
      sum += ${Array.from({ length: AT_A_TIME }, (_, n) => `part${n}`).join(' + ')};
    }
    for (; i < vectors; i += ${TEAM}u) { sum += ${product(norm, 'i')}; }
  }
  sums[lane] = sum;
  workgroupBarrier();
  if (me == 0u && line < p.lines) {
    var total = 0.0;
    for (var i = 0u; i < ${TEAM}u; i++) { total += sums[lane + i]; }
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

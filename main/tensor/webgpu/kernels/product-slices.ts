/**
 * Products of few tiles have K cut into slices, so that there is work for a whole GPU: each slice gives a matrix of sums,
 * and a second program adds them up and does what follows the product. How K is cut depends on the shapes alone: the same
 * product has the same numbers on every adapter.
 */
import type { Gpu } from '../gpu.ts';
import { groupsFor } from '../kernel.ts';
import type { GpuBuffer } from '../pool.ts';
import { program, variants } from '../program.ts';
import { MOST_WORK } from '../work.ts';
import { expDownOf } from './finite.ts';
import type { Second } from './matrix.ts';
import { lanesOf, TILES, type TileName } from './product-tile.ts';

/** Invocations that keep a large GPU busy; each of the largest tile's has four times the work. */
const ENOUGH_LANES = 2 ** 16;
const ENOUGH_OF_LARGEST = 2 ** 15;

/** Below this, a further dispatch costs more than slices save. */
const LEAST_K = 768;

/** Steps of K that a slice has at least. */
const LEAST_SLICE = 128;

/** A slice is a multiple of every tile's depth. */
const STEP = 32;

/** Bytes of all slices' sums. */
const MOST_BYTES = 2 ** 27;

export interface Slices {
  readonly count: number;
  /** Steps of K of each but the last. */
  readonly length: number;
}

/** How K is cut for the tiles of a product of `m` rows and `n` columns. */
export function slicesOf(name: TileName, m: number, n: number, k: number): Slices {
  const whole = cut(k, 1, STEP);
  if (k < LEAST_K) return whole;
  const tiles = Math.ceil(m / TILES[name].rows) * Math.ceil(n / TILES[name].columns);
  const wanted = (name === '128 x 128' ? ENOUGH_OF_LARGEST : ENOUGH_LANES) / (tiles * lanesOf(name));
  if (wanted <= 1) return whole;
  // A dispatch takes as many slices of all tiles as one may have work for, and those should be enough, too.
  const dispatches = Math.max(1, (2 * m * n * k) / MOST_WORK);
  const most = Math.floor(Math.min(k / LEAST_SLICE, MOST_BYTES / (4 * m * n)));
  return cut(k, Math.min(Math.ceil(wanted * dispatches), most), STEP);
}

/** K in `count` slices of a multiple of `step`, or fewer where those are enough. */
export function cut(k: number, count: number, step: number): Slices {
  if (count < 2) return { count: 1, length: Math.max(1, k) };
  const length = step * Math.ceil(k / count / step);
  return { count: Math.ceil(k / length), length };
}

/** What becomes of a sum: written, added to what is there, or, of two matrices, silu(first) * second. */
export type Epilogue = 'store' | 'add' | 'swiglu';

interface Key {
  /** Whether there is a low-rank part, and its lines are whole vectors. */
  readonly low: 'vectors' | 'numbers' | null;
  readonly bias: boolean;
  readonly epilogue: Epilogue;
}

const LANES = 64;

/** Slices whose sums are read together: one after the other, each would wait for memory. */
const AT_A_TIME = 8;

/** Adds up one number of the result: its slices, its low-rank part, its bias. */
function total({ low, bias }: Key, name: string, column: string, part: string): string {
  const of = (slice: string): string => `sums[((${slice}) * p.m + row) * p.n + ${column}]`;
  const together = Array.from({ length: AT_A_TIME }, (_, i) => i);
  return `  var ${name} = 0.0;
  {
    var slice = 0u;
    for (; slice + ${AT_A_TIME}u <= p.slices; slice += ${AT_A_TIME}u) {
${together.map((i) => `      let s${i} = ${of(`slice + ${i}u`)};`).join('\n')}
      ${name} += ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
    }
    for (; slice < p.slices; slice++) { ${name} += ${of('slice')}; }
${
  low
    ? `    let a = (row * p.parts + ${part}) * p.r;
    let b = (${column}) * p.r;
    var dots = ${low === 'vectors' ? 'vec4<f32>(0.0)' : '0.0'};
    for (var i = 0u; i < p.r; i += ${low === 'vectors' ? '4u' : '1u'}) { dots += ${low === 'vectors' ? 'a2[(a + i) / 4u] * b2[(b + i) / 4u]' : 'a2[a + i] * b2[b + i]'}; }
    ${name} += p.scale * ${low === 'vectors' ? '((dots.x + dots.y) + (dots.z + dots.w))' : 'dots'};`
    : ''
}
  }
${bias ? `  ${name} += bias[${column}];` : ''}`;
}

/** sums [slices, m, n] → out [m, columns], from column `first` on; swiglu's has half of n. */
const finish = variants((key: Key) => {
  const { low, bias, epilogue } = key;
  const one =
    epilogue === 'swiglu'
      ? `${total(key, 'gate', 'column', '0u')}
${total(key, 'up', 'p.n / 2u + column', '1u')}
  out[place] = gate / (1.0 + expDown(gate)) * up;`
      : `${total(key, 'sum', 'column', '(u32(column >= p.n0) + u32(column >= p.n1))')}
  out[place] ${epilogue === 'add' ? '+=' : '='} sum;`;
  return program({
    name: `Sum of slices${low === null ? '' : ' + low rank'}${epilogue === 'store' ? '' : ` ${epilogue}`}`,
    parameters: ['m', 'n', 'slices', 'columns', 'first', 'r', 'parts', 'n0', 'n1', 'scale:f32'],
    buffers: {
      sums: 'f32',
      ...(low && { a2: low === 'vectors' ? 'vec4<f32>' : 'f32', b2: low === 'vectors' ? 'vec4<f32>' : 'f32' }),
      ...(bias && { bias: 'f32' }),
      out: 'rw f32',
    },
    workgroup: LANES,
    declarations: epilogue === 'swiglu' ? expDownOf('f32') : '',
    main: `  let id = group * ${LANES}u + lane;
  let results = ${epilogue === 'swiglu' ? 'p.n / 2u' : 'p.n'};
  let row = id / results;
  let column = id % results;
  if (row >= p.m) { return; }
  let place = row * p.columns + p.first + column;
${one}`,
  });
});

export interface Finish {
  /** [slices, m, n] */
  readonly sums: GpuBuffer;
  readonly slices: number;
  readonly m: number;
  /** Columns of each matrix whose products lie side by side; their sum is n. */
  readonly widths: readonly number[];
  /** a [m * matrices, r]: of each row the low-rank numbers of each matrix; b [n, r]. */
  readonly second?: Second;
  /** [n] */
  readonly bias?: GpuBuffer;
  readonly epilogue: Epilogue;
  readonly out: GpuBuffer;
  readonly place: { readonly columns: number; readonly first: number };
}

/** Adds the slices up, and does what follows the product. */
export function finishSlices(gpu: Gpu, call: Finish): void {
  const { sums, slices, m, widths, second, bias, epilogue, out, place } = call;
  const n = widths.reduce((sum, width) => sum + width, 0);
  const [n0 = n, n1 = n] = widths;
  const buffers = [sums, ...(second === undefined ? [] : [second.a.buffer, second.b.buffer])];
  const low = second === undefined ? null : second.a.length % 4 === 0 ? 'vectors' : 'numbers';
  const key: Key = { low, bias: bias !== undefined, epilogue };
  const results = epilogue === 'swiglu' ? n / 2 : n;
  gpu.run(
    finish(key),
    [...buffers, ...(bias === undefined ? [] : [bias]), out],
    [
      ...[m, n, slices, place.columns, place.first, second?.a.length ?? 0, widths.length],
      ...[n0, n0 + n1, second?.scale ?? 1],
    ],
    groupsFor(m * results, LANES),
  );
}

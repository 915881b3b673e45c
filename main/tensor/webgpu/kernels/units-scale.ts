/**
 * The scale of x for units of float16: a power of two that brings its largest number near the top of the range, found
 * before a product or by each workgroup for its own part. Units of float32 need none.
 */
import { isQuantised } from '../../quantised.ts';
import { program, range } from '../program.ts';
import { scaleSums } from './units-multiply.ts';
import { type Tile, UNIT_LANES } from './units-tile.ts';
import { fillLevels, QUANTISED_SCALE, type UnitsFormat } from './units-weights.ts';

/** Vectors that a lane looks at together: one after the other, each would wait for memory. */
const AT_A_TIME = 8;

/** Joins the largest absolute value of x into `most`: of every `lanes`-th vector from i to `last`, which may be read again. */
const joinLargest = (lanes: number): string => `${range(AT_A_TIME)
  .map((n) => `    let v${n} = abs(x[min(i + ${n * lanes}u, last)]);`)
  .join('\n')}
    let all = max(max(max(v0, v1), max(v2, v3)), max(max(v4, v5), max(v6, v7)));
    most = max(most, max(max(all.x, all.y), max(all.z, all.w)));`;

/** Groups of lanes whose largest number of x is found apart. */
export const MAXIMA = 256;

/** x → the largest of its absolute values in each of MAXIMA parts. */
export const maximaProgram = program({
  name: 'Largest of x',
  parameters: ['vectors'],
  buffers: { x: 'vec4<f32>', maxima: 'rw f32' },
  workgroup: MAXIMA,
  declarations: `var<workgroup> largest: array<f32, ${MAXIMA}>;`,
  main: `  var most = 0.0;
  let last = p.vectors - 1u;
  for (var i = group * ${MAXIMA}u + lane; i <= last; i += ${AT_A_TIME * MAXIMA * MAXIMA}u) {
${joinLargest(MAXIMA * MAXIMA)}
  }
  largest[lane] = most;
  workgroupBarrier();
  if (lane == 0u) {
    for (var i = 1u; i < ${MAXIMA}u; i++) { most = max(most, largest[i]); }
    maxima[group] = most;
  }`,
});

/** Whether the product reads what `maximaProgram` found. */
export const needsMaxima = ({ unit, ownScale }: Tile): boolean => unit.element === 'f16' && !ownScale;

/** Statements that leave the largest number of x, of all of it or of the workgroup's part, in `most`. */
function largest({ rows, ownScale }: Tile, from: string): string {
  // Lanes beside each other read a line side by side; the last vector is read again rather than one beyond it.
  const perRow = UNIT_LANES / rows;
  const own = `  let row = min(row0 + lane / ${perRow}u, p.m - 1u);
  let last = ${from} + (row * p.k + end) / 4u - 1u;
  for (var i = ${from} + (row * p.k + begin) / 4u + lane % ${perRow}u; i <= last; i += ${AT_A_TIME * perRow}u) {
${joinLargest(perRow)}
  }`;
  const found = `  for (var i = lane; i < ${MAXIMA}u; i += ${UNIT_LANES}u) { most = max(most, maxima[i]); }`;
  return `  var most = 0.0;
${ownScale ? own : found}
${LARGEST_OF_LANES}`;
}

/** Statements that leave the largest of all lanes' `most` in each. */
export const LARGEST_OF_LANES = `  scratch[lane] = most;
  workgroupBarrier();
  for (var i = 0u; i < ${UNIT_LANES}u; i++) { most = max(most, scratch[i]); }
  workgroupBarrier();`;

/** The power of two that brings `most` to 2^14 … 2^15. */
export const POWER_OF_TWO = 'bitcast<f32>((268u - clamp(bitcast<u32>(most) >> 23u, 15u, 254u)) << 23u)';

/** What `prepare` needs of workgroup memory. */
export const scratchOf = ({ unit }: Tile): string =>
  unit.element === 'f16' ? `var<workgroup> scratch: array<f32, ${UNIT_LANES}>;` : '';

/** Statements before the panels are filled: levels of quantised weights, and `scale`. x begins at the vector `from`. */
export const prepare = (tile: Tile, format: UnitsFormat, from = '0u'): string =>
  tile.unit.element === 'f32'
    ? `${fillLevels(format)}
  workgroupBarrier();`
    : `${fillLevels(format)}
${largest(tile, from)}
  let scale = ${POWER_OF_TWO};`;

/** What weights in the panel are times what they are. */
export const weightsScale = (format: UnitsFormat): string => (isQuantised(format) ? `${QUANTISED_SCALE}.0` : '1.0');

/** Statements that take the factors' scales off the sums. */
export const unscaled = (tile: Tile, format: UnitsFormat): string =>
  tile.unit.element === 'f32' ? '' : scaleSums(tile, `1.0 / ${weightsScale(format)} / scale`);

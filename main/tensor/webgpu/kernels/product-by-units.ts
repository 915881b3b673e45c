/** Which products matrix units take, and how they are run: by the program of product-units.ts. */
import { roundsProducts } from '../../compute-dtype.ts';
import type { WebGpuBackend } from '../backend.ts';
import type { MatrixUnit } from '../matrix-units.ts';
import type { GpuBuffer } from '../pool.ts';
import { equalParts, MOST_WORK } from '../work.ts';
import { formOf, type Matrix, type Second } from './matrix.ts';
import { cut, type Finish, finishSlices } from './product-slices.ts';
import { type UnitsKey, unitsProgram } from './product-units.ts';
import { MAXIMA, maximaProgram, needsMaxima } from './units-scale.ts';
import { DEPTH, productMemory, TILES, type TileName, tileOf } from './units-tile.ts';

/** Multiplications below which the float32 kernels are as good. */
const LEAST = 2 ** 22;

/**
 * The unit that can and should multiply `m` rows of x by these weights: b of [n, k], or [k, n] if not transposed; null:
 * none.
 */
export function takenUnit({ gpu }: WebGpuBackend, m: number, b: readonly Matrix[]): MatrixUnit | null {
  const [first] = b;
  const { matrixUnit: unit } = gpu;
  if (unit === null || first === undefined || first.format === 'f32') return null;
  const { format, transposed } = first;
  const k = transposed ? first.length : first.lines;
  const n = b.reduce((sum, matrix) => sum + (matrix.transposed ? matrix.lines : matrix.length), 0);
  // Eight numbers of a line are read at once, four of the result's are written.
  const plain = b.every((matrix) =>
    [
      matrix.format === format,
      matrix.parts === undefined,
      (matrix.batchStride ?? 0) === 0,
      matrix.length % 8 === 0,
      matrix.lines % 4 === 0,
    ].every(Boolean),
  );
  const memory = productMemory(tileOf(unit, tileFor(m)), { format, transposed, rounded: false });
  const fits = memory <= gpu.adapter.limits.maxComputeWorkgroupStorageSize;
  return plain && fits && k % DEPTH === 0 && m * n * k >= LEAST ? unit : null;
}

const tileFor = (m: number): TileName => (m <= TILES['few rows'].rows ? 'few rows' : 'large');

/** How much faster the slowest GPU with units is than the one that bounds a dispatch's work, and units than its rest. */
const SLOWEST_WITH_UNITS = 8;
const UNITS_SPEED = { f16: 2, f32: 1 } as const;

/** Tiles that workgroups go down before they go across: those that run together share what they read of both matrices. */
const MOST_DOWN = 16;

/** Steps of K that a slice has at least. */
const LEAST_SLICE = 256;

export interface UnitsCall extends Pick<Finish, 'm' | 'bias' | 'epilogue' | 'out' | 'place'> {
  /** float32 [m, k] */
  readonly x: GpuBuffer;
  readonly weights: readonly Matrix[];
  /** Transposed as the weights are. */
  readonly second?: Second;
}

/** x·b, each b beside the other, and what follows. */
export function unitsProduct({ gpu }: WebGpuBackend, unit: MatrixUnit, call: UnitsCall): void {
  const { x, m, weights, second, bias, epilogue, out, place } = call;
  const [first] = weights;
  if (first === undefined || first.format === 'f32') throw new Error('Expected weights that units take');
  const { format, transposed } = first;
  const k = transposed ? first.length : first.lines;
  const widths = weights.map(({ lines, length }) => (transposed ? lines : length));
  const n = widths.reduce((sum, width) => sum + width, 0);
  const name = tileFor(m);
  const tile = tileOf(unit, name);
  const across = widths.reduce((sum, width) => sum + Math.ceil(width / tile.columns), 0);
  const down = Math.ceil(m / tile.rows);
  const wanted = Math.floor(TILES[name].enough / (across * down));
  const slices = cut(k, Math.min(wanted, Math.floor(k / LEAST_SLICE)), DEPTH);
  const aligned = place.columns % 4 === 0 && place.first % 4 === 0;
  // In a tile where it can be: elsewhere finishSlices adds it, which takes transposes alone.
  const inSums = second !== undefined && weights.length === 1 && (slices.count === 1 || !transposed) ? second : null;
  const after = inSums === null ? second : undefined;
  const direct = slices.count === 1 && after === undefined && bias === undefined && epilogue === 'store' && aligned;
  const key: UnitsKey = {
    unit,
    tile: name,
    transposed,
    sliced: !direct,
    matrices: weights.length,
    second: inSums && { a: formOf(inSums.a), b: formOf(inSums.b) },
    format,
    rounded: unit.element === 'f16' && roundsProducts(),
  };
  const wide = direct ? place : { columns: n, first: 0 };
  const taken: GpuBuffer[] = [];
  const take = (numbers: number): GpuBuffer => {
    const buffer = gpu.take(4 * numbers);
    taken.push(buffer);
    return buffer;
  };
  try {
    const target = direct ? out : take(slices.count * m * wide.columns);
    const maxima = needsMaxima(tile) ? take(MAXIMA) : null;
    if (maxima !== null) gpu.run(maximaProgram, [x, maxima], [(m * k) / 4], MAXIMA);
    const buffers = [
      x,
      ...weights.map(({ buffer }) => buffer),
      ...(inSums === null ? [] : [inSums.a.buffer, inSums.b.buffer]),
      ...(maxima === null ? [] : [maxima]),
      target,
    ];
    const [n0 = 0, n1 = 0, n2 = 0] = widths;
    const parameters = [m, n0, n1, n2, k, wide.columns, wide.first];
    const bands = Math.ceil(down / MOST_DOWN);
    const band = Math.ceil(down / bands);
    const mostWork = Math.max(
      SLOWEST_WITH_UNITS * Math.min(gpu.mostWork, MOST_WORK),
      UNITS_SPEED[unit.element] * gpu.mostWork,
    );
    for (const part of equalParts(across, 2 * tile.columns * m * k, mostWork))
      gpu.run(
        unitsProgram(key),
        buffers,
        [...parameters, part.first, slices.length, band, inSums?.a.length ?? 0, inSums?.scale ?? 1],
        [band, part.count, bands * slices.count],
        part.work,
      );
    if (direct) return;
    const rest = { m, epilogue, out, place, ...(bias && { bias }), ...(after && { second: after }) };
    finishSlices(gpu, { ...rest, sums: target, slices: slices.count, widths });
  } finally {
    for (const buffer of taken) gpu.give(buffer);
  }
}

/** Which way packed attention's products are computed. */
import type { MatrixUnit } from '../matrix-units.ts';
import { registerProducts } from './attention-registers.ts';
import type { Products } from './attention-tile.ts';
import { unitProducts } from './attention-units.ts';

export interface AttentionKey {
  readonly headDim: number;
  /** That multiplies numbers rounded to its own; null: all in float32. */
  readonly unit: MatrixUnit | null;
  /** Bytes of a workgroup's memory. */
  readonly memory: number;
}

/** For a program with so many results a line. Throws a BraidError where a line of a head is too long for the memory. */
export const productsOf = ({ headDim, unit, memory }: AttentionKey, results: number): Products =>
  unit === null ? registerProducts(headDim, results, memory) : unitProducts(headDim, unit);

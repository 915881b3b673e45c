/** A quantised weight as a source of its dequantised numbers. */
import type { WeightSource } from '../../tensor/weights.ts';
import { openBitsandbytes } from './bitsandbytes.ts';
import { openAwq, openGptq } from './columns.ts';
import { openMlx, openPacked } from './packed.ts';
import { type Parts, type Place, partsOf } from './parts.ts';
import { openFp8, openNaive } from './scaled.ts';
import type { Quantisation } from './settings.ts';

/** Null: this weight isn't quantised. Each checks the shapes of its parts. */
const METHODS: Readonly<Record<Quantisation['method'], (parts: Parts) => WeightSource | null>> = {
  bitsandbytes: openBitsandbytes,
  mlx: openMlx,
  gptq: openGptq,
  awq: openAwq,
  fp8: openFp8,
  'compressed-tensors': (parts) => openPacked(parts) ?? openNaive(parts),
};

/** `name`: of the weight, as the folder calls it. Null: it is stored as it is. */
export function quantisedSource(
  settings: Quantisation,
  name: string,
  shape: readonly number[],
  placeOf: (name: string) => Place | null,
): WeightSource | null {
  if (shape.length !== 2 || !name.endsWith('.weight')) return null;
  return METHODS[settings.method](partsOf(placeOf, { module: name.slice(0, -7), shape, settings }));
}

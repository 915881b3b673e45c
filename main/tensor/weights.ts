/** How a model's weights become tensors. A backend may have its own way that needs less memory. */
import * as tf from '@tensorflow/tfjs-core';

/**
 * How matrices are stored: bfloat16 where the backend supports it and they aren't trained; "stored" keeps those of a
 * 16-bit file as they are there, which changes no number.
 */
export type WeightPrecision = 'float32' | 'bfloat16' | 'stored';

/** The source of a tensor's values. */
export interface WeightSource {
  readonly type: 'F32' | 'F16' | 'BF16';
  /** All of them as float32. */
  read(): Float32Array<ArrayBuffer>;
  /** `count` of them from number `first` on as float32. */
  readPart(first: number, count: number): Float32Array<ArrayBuffer>;
  /** `count` of them from number `first` on, as they are stored. */
  readRaw(first: number, count: number): Buffer<ArrayBuffer>;
}

/** A backend's way to make a weight; null for the default. */
export type MakeWeight = (
  source: WeightSource,
  shape: readonly number[],
  precision: WeightPrecision,
) => tf.Tensor | null;

const makers = new Map<string, MakeWeight>();

/** Registers a backend's own way. */
export function registerWeightMaker(backendName: string, make: MakeWeight): void {
  makers.set(backendName, make);
}

/** A weight on the current backend. */
export function makeWeight(source: WeightSource, shape: readonly number[], precision: WeightPrecision): tf.Tensor {
  const own = makers.get(tf.getBackend())?.(source, shape, precision) ?? null;
  return own ?? tf.tensor(source.read(), [...shape], 'float32');
}

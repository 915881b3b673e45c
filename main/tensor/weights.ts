/** How a model's weights become tensors. A backend may have a way of its own that takes less memory. */
import * as tf from '@tensorflow/tfjs-core';

/** How matrices are kept: bfloat16 where the backend can and they aren't trained. */
export type WeightPrecision = 'float32' | 'bfloat16';

/** Where a tensor's numbers come from. */
export interface WeightSource {
  readonly type: 'F32' | 'F16' | 'BF16';
  /** All of them as float32. */
  read(): Float32Array<ArrayBuffer>;
  /** `count` of them from number `first` on as float32. */
  readPart(first: number, count: number): Float32Array<ArrayBuffer>;
  /** `count` of them from number `first` on, as they are stored. */
  readRaw(first: number, count: number): Buffer<ArrayBuffer>;
}

/** A backend's way to make a weight; null: the usual one will do. */
export type MakeWeight = (
  source: WeightSource,
  shape: readonly number[],
  precision: WeightPrecision,
) => tf.Tensor | null;

const makers = new Map<string, MakeWeight>();

/** Gives a backend a way of its own. */
export function registerWeightMaker(backendName: string, make: MakeWeight): void {
  makers.set(backendName, make);
}

/** A weight on the current backend. */
export function makeWeight(source: WeightSource, shape: readonly number[], precision: WeightPrecision): tf.Tensor {
  const own = makers.get(tf.getBackend())?.(source, shape, precision) ?? null;
  return own ?? tf.tensor(source.read(), [...shape], 'float32');
}

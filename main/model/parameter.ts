import type * as tf from '@tensorflow/tfjs-core';

/** A named tensor that an optimiser may change: in place where the backend can, by replacing `value` elsewhere. */
export interface Parameter<T extends tf.Tensor = tf.Tensor> {
  readonly name: string;
  value: T;
}

/** Total element count of the parameters. */
export function parameterCount(parameters: readonly Parameter[]): number {
  return parameters.reduce((sum, { value }) => sum + value.size, 0);
}

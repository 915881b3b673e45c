import * as tf from '@tensorflow/tfjs-core';
import { type Adapter, adapterParameters, createAdapter } from '../../main/model/lora.ts';
import type { Model } from '../../main/model/model.ts';
import { randomTensor } from './ops/finite-differences.ts';

/** An adapter whose B isn't zero any more. */
export function shakenAdapter(model: Model, targetModules: readonly string[], scale: number): Adapter {
  const adapter = createAdapter(model, { r: 8, alpha: 4, targetModules, useRslora: false }, 5);
  adapterParameters(adapter).forEach((parameter, i) => {
    const { value } = parameter;
    parameter.value = tf.keep(tf.tidy(() => tf.mul(scale, randomTensor(value.shape as [number, number], 50 + i))));
    value.dispose();
  });
  return adapter;
}

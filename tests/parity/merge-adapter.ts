import * as tf from '@tensorflow/tfjs-core';
import { type Adapter, adaptedLinears } from '../../main/model/lora.ts';
import type { Model } from '../../main/model/model.ts';

/** In memory, as `openMergedModel` does from files: adds (sign 1) or subtracts (sign -1) the adapter's product in the base weights. */
export function mergeAdapter(model: Model, adapter: Adapter, sign: 1 | -1 = 1): void {
  for (const linear of adaptedLinears(model, adapter.config)) {
    const lora = adapter.modules.get(linear.name);
    if (lora === undefined) continue;
    const merged = tf.tidy(() =>
      tf.add(linear.weight.value, tf.mul(tf.matMul(lora.b.value, lora.a.value), sign * lora.scaling)),
    );
    linear.weight.value.dispose();
    linear.weight.value = merged as tf.Tensor2D;
  }
}

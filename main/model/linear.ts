/** Linear layers, as they are or with a low-rank adapter. */
import * as tf from '@tensorflow/tfjs-core';
import { loraLinear } from '../tensor/ops/lora-linear.ts';
import { weightProduct } from '../tensor/ops/weight-product.ts';
import type { Parameter } from './parameter.ts';

/** y = x·Wᵀ + b, W as Hugging Face stores it: [out, in]. `name` is the module's, as PEFT writes it. */
export interface Linear {
  readonly name: string;
  readonly weight: Parameter<tf.Tensor2D>;
  readonly bias: Parameter<tf.Tensor1D> | null;
}

export interface LoraWeights {
  readonly a: Parameter<tf.Tensor2D>;
  readonly b: Parameter<tf.Tensor2D>;
  /** Of the product: alpha / r, or alpha / sqrt(r). */
  readonly scaling: number;
}

/** The weights of every adapted module, by module name. */
export interface AdaptedModules {
  readonly modules: ReadonlyMap<string, LoraWeights>;
}

/** One linear layer with its adapter, if it has one. x [N, in] → [N, out]. */
export function linear(x: tf.Tensor2D, layer: Linear, adapter: AdaptedModules | null): tf.Tensor2D {
  const lora = adapter?.modules.get(layer.name);
  const product =
    lora === undefined
      ? weightProduct(x, layer.weight.value)
      : loraLinear(x, layer.weight.value, lora.a.value, lora.b.value, lora.scaling); // [N, out]
  return (layer.bias === null ? product : tf.add(product, layer.bias.value)) as tf.Tensor2D;
}

/** Outputs of linear layers on the same x, of these widths, whether or not they are one matrix. [N, width] each */
export function project(
  x: tf.Tensor2D,
  layers: readonly Linear[],
  widths: readonly number[],
  adapter: AdaptedModules | null,
): tf.Tensor2D[] {
  const outputs = layers.map((layer) => linear(x, layer, adapter));
  const [joined] = outputs;
  return joined === undefined || outputs.length > 1 || widths.length === 1
    ? outputs
    : (tf.split(joined, [...widths], 1) as tf.Tensor2D[]);
}

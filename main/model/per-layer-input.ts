/**
 * Inputs that each layer of Gemma 4's smaller models has besides the stream: of a token's own embedding and of the
 * stream's, through a gate. N tokens, D width, L layers, p width of a layer's input, V vocabulary.
 */
import * as tf from '@tensorflow/tfjs-core';
import { geglu } from '../tensor/ops/geglu.ts';
import { rmsNorm } from '../tensor/ops/rms-norm.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import type { ModelConfig } from './config.ts';
import { type AdaptedModules, type Linear, linear } from './linear.ts';
import { norm } from './norm.ts';
import type { Parameter } from './parameter.ts';

/** The model's part. */
export interface PerLayerInputs {
  /** [V, L*p] */
  readonly embedding: Parameter<tf.Tensor2D>;
  /** [L*p, D] */
  readonly projection: Linear;
  readonly norm: Parameter<tf.Tensor1D>;
}

/** A layer's part. */
export interface LayerInput {
  readonly gate: Linear;
  readonly projection: Linear;
  readonly norm: Parameter<tf.Tensor1D>;
}

type Shapes = readonly (readonly [name: string, shape: readonly number[]])[];

const OF_MODEL = {
  embedding: 'model.embed_tokens_per_layer',
  projection: 'model.per_layer_model_projection',
  norm: 'model.per_layer_projection_norm',
} as const;
const OF_LAYER = {
  gate: 'per_layer_input_gate',
  projection: 'per_layer_projection',
  norm: 'post_per_layer_input_norm',
} as const;

export function modelInputShapes({ perLayerInput, numLayers, hiddenSize }: ModelConfig): Shapes {
  if (perLayerInput === null) return [];
  const { width, vocabSize } = perLayerInput;
  return [
    [`${OF_MODEL.embedding}.weight`, [vocabSize, numLayers * width]],
    [`${OF_MODEL.projection}.weight`, [numLayers * width, hiddenSize]],
    [`${OF_MODEL.norm}.weight`, [width]],
  ];
}

export function layerInputShapes({ perLayerInput, hiddenSize }: ModelConfig): Shapes {
  if (perLayerInput === null) return [];
  return [
    [`${OF_LAYER.gate}.weight`, [perLayerInput.width, hiddenSize]],
    [`${OF_LAYER.projection}.weight`, [hiddenSize, perLayerInput.width]],
    [`${OF_LAYER.norm}.weight`, [hiddenSize]],
  ];
}

export function assembleModelInputs(
  { perLayerInput }: ModelConfig,
  parameter: (name: string) => Parameter,
): PerLayerInputs | null {
  if (perLayerInput === null) return null;
  const weight = parameter(`${OF_MODEL.projection}.weight`) as Parameter<tf.Tensor2D>;
  return {
    embedding: parameter(`${OF_MODEL.embedding}.weight`) as Parameter<tf.Tensor2D>,
    projection: { name: OF_MODEL.projection, weight, bias: null },
    norm: parameter(`${OF_MODEL.norm}.weight`) as Parameter<tf.Tensor1D>,
  };
}

export function assembleLayerInput(
  { perLayerInput }: ModelConfig,
  parts: { linear(name: string): Linear; vector(name: string): Parameter<tf.Tensor1D> },
): LayerInput | null {
  if (perLayerInput === null) return null;
  const { gate, projection, norm: after } = OF_LAYER;
  return { gate: parts.linear(gate), projection: parts.linear(projection), norm: parts.vector(`${after}.weight`) };
}

/** The inputs of all layers, [N, p] each; `x`: the embedded tokens [N, D]. */
export function inputsOfLayers(
  { embedding, projection, norm: own }: PerLayerInputs,
  config: ModelConfig,
  ids: tf.Tensor1D,
  x: tf.Tensor2D,
  adapter: AdaptedModules | null,
): readonly tf.Tensor2D[] {
  const { numLayers, hiddenSize, rmsNormEps } = config;
  const [n] = x.shape;
  const all = tf.tidy(() => {
    const width = own.value.size;
    const tokens = tf.mul(gatherRows(embedding.value, ids, config.padTokenId ?? -1), Math.sqrt(width)); // [N, L*p]
    const projected = tf.mul(linear(x, projection, adapter), hiddenSize ** -0.5);
    const normed = rmsNorm(tf.reshape(projected, [n * numLayers, width]), own.value, rmsNormEps);
    return tf.mul(tf.add(tf.reshape(normed, [n, numLayers * width]), tokens), Math.SQRT1_2) as tf.Tensor2D;
  });
  return tf.split(all, numLayers, 1);
}

/** x with what a layer makes of its input. x [N, D], input [N, p] → [N, D] */
export function addInput(
  x: tf.Tensor2D,
  input: tf.Tensor2D,
  { gate, projection, norm: after }: LayerInput,
  config: ModelConfig,
  adapter: AdaptedModules | null,
): tf.Tensor2D {
  const gated = geglu(linear(x, gate, adapter), input);
  return tf.add(x, norm(linear(gated, projection, adapter), after, config));
}

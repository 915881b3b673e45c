/** Loading the weights of a Hugging Face folder: one safetensors file, or shards named by their index. */
import { existsSync, statSync } from 'node:fs';
import * as tf from '@tensorflow/tfjs-core';
import { inputError } from '../errors.ts';
import { pulse } from '../pulse.ts';
import { hashString, randomStream } from '../random.ts';
import { makeWeight, type WeightPrecision, type WeightSource } from '../tensor/weights.ts';
import { contextLength, type ModelConfig, readModelConfig } from './config.ts';
import { assembleModel, type Model, parameterShapes, precisionOf } from './model.ts';
import { openWeights } from './open-weights.ts';
import type { Parameter } from './parameter.ts';
import { disposeModelRope, makeModelRope } from './rope-tables.ts';
import { weightsOptions } from './weight-names.ts';

/**
 * Loads a model folder onto the current backend. `maxLength` bounds prompt plus completion, in tokens. With
 * `precision` bfloat16, a backend that can keeps matrices in 16 bits, with int8 or nf4 linear layers in 8 or 4; such
 * weights can't be trained. `config`: by default the folder's own.
 */
export function loadModel(
  folder: string,
  maxLength: number,
  precision: WeightPrecision = 'float32',
  config: ModelConfig = readConfig(folder),
): Model {
  checkLength(config, maxLength, folder);
  const weights = openWeights(folder, weightsOptions(config));
  const made: tf.Tensor[] = [];
  const rope = makeModelRope(config, maxLength);
  try {
    const shapes = parameterShapes(config);
    const parameter = (name: string): Parameter => {
      pulse();
      const shape = shapes.get(name) ?? [];
      const source = weights.source(name, shape);
      const value = makeWeight(source, shape, asInFile(source, config, precisionOf(name, precision, shape.length)));
      made.push(value);
      return { name, value };
    };
    return assembleModel(config, parameter, rope);
  } catch (error) {
    tf.dispose(made);
    disposeModelRope(rope);
    throw error;
  } finally {
    weights.close();
  }
}

/** Of a folder that is kept as it is quantised, the matrices that its method left alone aren't rounded. */
function asInFile(
  { packed }: WeightSource,
  { quantisation }: Pick<ModelConfig, 'quantisation'>,
  precision: WeightPrecision,
): WeightPrecision {
  return quantisation?.keptAs === precision && packed?.kind !== precision ? 'stored' : precision;
}

/** transformers' initialisation for Llama: every matrix normal with this standard deviation. */
function usualDeviation(): number {
  return 0.02;
}

/** A model with random normal weights, norms at 1, biases at 0; `deviation` gives the spread by name and shape. */
export function randomModel(
  config: ModelConfig,
  seed: number,
  maxLength: number,
  deviation: (name: string, shape: readonly number[]) => number = usualDeviation,
): Model {
  const shapes = parameterShapes(config);
  const parameter = (name: string): Parameter => {
    const shape = [...(shapes.get(name) ?? [])];
    if (name.endsWith('.layer_scalar')) return { name, value: tf.ones(shape) };
    if (name.endsWith('.A_log') || name.endsWith('.dt_bias')) return { name, value: tf.zeros(shape) };
    if (name.endsWith('linear_attn.norm.weight')) return { name, value: tf.ones(shape) };
    if (name.endsWith('norm.weight')) return { name, value: config.unitOffset ? tf.zeros(shape) : tf.ones(shape) };
    if (name.endsWith('.bias')) return { name, value: tf.zeros(shape) };
    const size = shape.reduce((a, b) => a * b, 1);
    return { name, value: tf.tensor(normals(size, deviation(name, shape), seed, hashString(name)), shape) };
  };
  return assembleModel(config, parameter, makeModelRope(config, maxLength));
}

/** Normal numbers with the given standard deviation, by Box and Muller. */
function normals(n: number, deviation: number, ...coordinates: number[]): Float32Array {
  const stream = randomStream(...coordinates);
  return Float32Array.from({ length: n }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - stream.next()));
    return deviation * radius * Math.cos(2 * Math.PI * stream.next());
  });
}

/** The folder's configuration, or an error that says what to do without a folder. */
function readConfig(folder: string): ModelConfig {
  checkFolder(folder);
  return readModelConfig(folder);
}

function checkFolder(folder: string): void {
  if (existsSync(folder) && statSync(folder).isDirectory()) return;
  throw inputError(
    'MODEL_MISSING',
    `${folder}: expected a model folder (config.json, tokenizer.json, safetensors), but it doesn't exist`,
    'Give the path of a Hugging Face model folder, or "tiny" for the bundled model.',
  );
}

function checkLength(config: ModelConfig, maxLength: number, folder: string): void {
  const longest = contextLength(config);
  if (maxLength <= longest) return;
  const why =
    longest === config.maxPositionEmbeddings
      ? `the model's max_position_embeddings is ${longest}`
      : `the model's scaled RoPE reaches ${longest}`;
  throw inputError(
    'CONTEXT_TOO_SHORT',
    `${folder}: prompt and completion need ${maxLength} tokens, ${why}`,
    'Use shorter records, a smaller max_completion_length or a model with a longer context.',
  );
}

import type * as tf from '@tensorflow/tfjs-core';
import { isQuantised } from '../tensor/quantised.ts';
import type { WeightPrecision } from '../tensor/weights.ts';
import type { ModelConfig } from './config.ts';
import { layerConfig } from './layer-sizes.ts';
import type { Linear } from './linear.ts';
import { mixerOf } from './mixers/index.ts';
import type { Mixer } from './mixers/mixer.ts';
import { isLinearWeight, type LayerNames, namesOf } from './names.ts';
import type { Parameter } from './parameter.ts';
import {
  assembleLayerInput,
  assembleModelInputs,
  type LayerInput,
  layerInputShapes,
  modelInputShapes,
  type PerLayerInputs,
} from './per-layer-input.ts';
import { disposeModelRope, type ModelRope } from './rope-tables.ts';

/** RMSNorms around a layer's mixer or MLP; null where an architecture has none. */
export interface Norms {
  readonly before: Parameter<tf.Tensor1D> | null;
  readonly after: Parameter<tf.Tensor1D> | null;
}

export interface DecoderLayer {
  readonly mixerNorms: Norms;
  readonly mixer: Mixer;
  readonly mlpNorms: Norms;
  /** gate and up, or both in one. */
  readonly gateUp: readonly Linear[];
  readonly down: Linear;
  readonly input: LayerInput | null;
  /** Multiplies its output; training leaves it as it is. */
  readonly scalar: Parameter<tf.Tensor1D> | null;
}

/** A number that transformers keeps as a buffer. */
const SCALAR = 'layer_scalar';

/** A decoder's weights. Tied models use the embedding as their head. */
export interface Model {
  readonly config: ModelConfig;
  readonly embedding: Parameter<tf.Tensor2D>;
  readonly layers: readonly DecoderLayer[];
  readonly norm: Parameter<tf.Tensor1D>;
  readonly head: Parameter<tf.Tensor2D>;
  readonly inputs: PerLayerInputs | null;
  /** RoPE tables for positions below `maxLength`. */
  readonly rope: ModelRope;
  readonly maxLength: number;
}

/** The shape that a parameter of a model must have, by its Hugging Face name, in the file's usual order. */
export function parameterShapes(config: ModelConfig): ReadonlyMap<string, readonly number[]> {
  const { hiddenSize: d } = config;
  const names = namesOf(config);
  const shapes = new Map<string, readonly number[]>([['model.embed_tokens.weight', [config.vocabSize, d]]]);
  for (let i = 0; i < config.numLayers; i++) {
    const add = (name: string, shape: readonly number[]): unknown => shapes.set(`model.layers.${i}.${name}`, shape);
    const addNorms = (norms: LayerNames['mixerNorms']): void => {
      for (const name of norms) if (name !== null) add(`${name}.weight`, [d]);
    };
    const own = layerConfig(config, i);
    const { intermediateSize: f } = own;
    addNorms(names.mixerNorms);
    for (const [name, shape] of mixerOf(config, i).shapes(own)) add(name, shape);
    addNorms(names.mlpNorms);
    const width = (2 * f) / names.gateUp.length;
    for (const name of names.gateUp) add(`${name}.weight`, [width, d]);
    add(`${names.down}.weight`, [d, f]);
    if (config.mlpBias) {
      for (const name of names.gateUp) add(`${name}.bias`, [width]);
      add(`${names.down}.bias`, [d]);
    }
    for (const [name, shape] of layerInputShapes(config)) add(name, shape);
    if (config.layerScalar) add(SCALAR, [1]);
  }
  for (const [name, shape] of modelInputShapes(config)) shapes.set(name, shape);
  shapes.set(`${names.last}.weight`, [d]);
  if (!config.tieWordEmbeddings) shapes.set('lm_head.weight', [config.vocabSize, d]);
  return shapes;
}

/**
 * Linear layers alone are quantised, as by bitsandbytes: embedding and head stay as the file has them. What isn't a matrix
 * is small.
 */
export function precisionOf(name: string, precision: WeightPrecision, rank = 2): WeightPrecision {
  if (rank > 2) return 'float32';
  return isQuantised(precision) && !isLinearWeight(name) ? 'stored' : precision;
}

/** Assembles a model from its parameters, asked for by Hugging Face name. */
export function assembleModel(config: ModelConfig, parameter: (name: string) => Parameter, rope: ModelRope): Model {
  const known = parameterShapes(config);
  const one = (name: string): Parameter<tf.Tensor1D> => parameter(name) as Parameter<tf.Tensor1D>;
  const two = (name: string): Parameter<tf.Tensor2D> => parameter(name) as Parameter<tf.Tensor2D>;
  const names = namesOf(config);
  const layers = Array.from({ length: config.numLayers }, (_, i): DecoderLayer => {
    const prefix = `model.layers.${i}`;
    const linear = (name: string): Linear => ({
      name: `${prefix}.${name}`,
      weight: two(`${prefix}.${name}.weight`),
      bias: known.has(`${prefix}.${name}.bias`) ? one(`${prefix}.${name}.bias`) : null,
    });
    const norms = ([before, after]: LayerNames['mixerNorms']): Norms => ({
      before: before === null ? null : one(`${prefix}.${before}.weight`),
      after: after === null ? null : one(`${prefix}.${after}.weight`),
    });
    const parts = {
      linear,
      tensor: (name: string) => parameter(`${prefix}.${name}`),
      vector: (name: string) => one(`${prefix}.${name}`),
    };
    return {
      mixerNorms: norms(names.mixerNorms),
      mixer: mixerOf(config, i).assemble(layerConfig(config, i), parts),
      mlpNorms: norms(names.mlpNorms),
      gateUp: names.gateUp.map(linear),
      down: linear(names.down),
      input: assembleLayerInput(config, parts),
      scalar: config.layerScalar ? parts.vector(SCALAR) : null,
    };
  });
  const embedding = two('model.embed_tokens.weight');
  const head = config.tieWordEmbeddings ? embedding : two('lm_head.weight');
  const maxLength = rope.main.cos.shape[0];
  const inputs = assembleModelInputs(config, parameter);
  return { config, embedding, layers, norm: one(`${names.last}.weight`), head, inputs, rope, maxLength };
}

/** The linear layers of a layer, in PEFT's order of names. */
export function blockLinears(layer: DecoderLayer): readonly Linear[] {
  const { mixer, gateUp, down, input } = layer;
  return [...mixer.linears, ...gateUp, down, ...(input === null ? [] : [input.gate, input.projection])];
}

/** Those of the model: of all layers, and what is beside them. */
export function modelLinears({ layers, inputs }: Pick<Model, 'layers' | 'inputs'>): readonly Linear[] {
  return [...layers.flatMap(blockLinears), ...(inputs === null ? [] : [inputs.projection])];
}

/** Every parameter of one layer that can be trained. */
export function layerParameters(layer: DecoderLayer): readonly Parameter[] {
  const { mixerNorms, mlpNorms, input } = layer;
  const norms = [mixerNorms.before, mixerNorms.after, mlpNorms.before, mlpNorms.after, input?.norm ?? null];
  const linears = blockLinears(layer).flatMap(({ weight, bias }) => [weight, bias]);
  return [...norms, ...layer.mixer.others, ...linears].filter((parameter) => parameter !== null);
}

/** Every parameter of the model, once (a tied head is the embedding), in the order of `parameterShapes`. */
export function modelParameters(model: Model): readonly Parameter[] {
  const { embedding, layers, inputs, head } = model;
  const scalars = layers.flatMap(({ scalar }) => scalar ?? []);
  const beside = inputs === null ? [] : [inputs.embedding, inputs.projection.weight, inputs.norm];
  const all: Parameter[] = [embedding, ...layers.flatMap(layerParameters), ...scalars, ...beside, model.norm, head];
  const byName = new Map(all.map((parameter) => [parameter.name, parameter]));
  return [...parameterShapes(model.config).keys()].flatMap((name) => byName.get(name) ?? []);
}

/** Those that training changes when all weights are trained. */
export function trainableParameters(model: Model): readonly Parameter[] {
  return modelParameters(model).filter(({ name }) => !name.endsWith(`.${SCALAR}`));
}

/** Frees every tensor of the model. */
export function disposeModel(model: Model): void {
  for (const { value } of modelParameters(model)) value.dispose();
  disposeModelRope(model.rope);
}

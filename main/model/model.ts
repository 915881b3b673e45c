import type * as tf from '@tensorflow/tfjs-core';
import { isQuantised } from '../tensor/quantised.ts';
import type { WeightPrecision } from '../tensor/weights.ts';
import type { ModelConfig } from './config.ts';
import type { Parameter } from './parameter.ts';
import { disposeModelRope, type ModelRope } from './rope-tables.ts';

/** y = x·Wᵀ + b, W as Hugging Face stores it: [out, in]. `name` is the module's, as PEFT writes it. */
export interface Linear {
  readonly name: string;
  readonly weight: Parameter<tf.Tensor2D>;
  readonly bias: Parameter<tf.Tensor1D> | null;
}

/** RMSNorms around a block's attention or MLP; null where an architecture has none. */
export interface Norms {
  readonly before: Parameter<tf.Tensor1D> | null;
  readonly after: Parameter<tf.Tensor1D> | null;
}

export interface DecoderLayer {
  readonly attentionNorms: Norms;
  /** q, k and v, or all three in one, one after the other. */
  readonly qkv: readonly Linear[];
  readonly o: Linear;
  readonly qNorm: Parameter<tf.Tensor1D> | null;
  readonly kNorm: Parameter<tf.Tensor1D> | null;
  readonly mlpNorms: Norms;
  /** gate and up, or both in one. */
  readonly gateUp: readonly Linear[];
  readonly down: Linear;
}

/** A decoder's weights. Tied models use the embedding as their head. */
export interface Model {
  readonly config: ModelConfig;
  readonly embedding: Parameter<tf.Tensor2D>;
  readonly layers: readonly DecoderLayer[];
  readonly norm: Parameter<tf.Tensor1D>;
  readonly head: Parameter<tf.Tensor2D>;
  /** RoPE tables for positions below `maxLength`. */
  readonly rope: ModelRope;
  readonly maxLength: number;
}

/** The names of a layer's norms, by where they are. */
const NORM_NAMES = {
  before: { attention: ['input_layernorm', null], mlp: ['post_attention_layernorm', null] },
  after: { attention: [null, 'post_attention_layernorm'], mlp: [null, 'post_feedforward_layernorm'] },
  both: {
    attention: ['input_layernorm', 'post_attention_layernorm'],
    mlp: ['pre_feedforward_layernorm', 'post_feedforward_layernorm'],
  },
} as const;

/** The names of linear layers that are one matrix in Phi-3. */
function projections({ fusedProjections }: ModelConfig): { readonly qkv: string[]; readonly gateUp: string[] } {
  return fusedProjections
    ? { qkv: ['self_attn.qkv_proj'], gateUp: ['mlp.gate_up_proj'] }
    : {
        qkv: ['self_attn.q_proj', 'self_attn.k_proj', 'self_attn.v_proj'],
        gateUp: ['mlp.gate_proj', 'mlp.up_proj'],
      };
}

/** Columns of q, k and v. */
export function qkvWidths({ headDim, numHeads, numKvHeads }: ModelConfig): readonly [number, number, number] {
  return [numHeads * headDim, numKvHeads * headDim, numKvHeads * headDim];
}

/** The shape that a parameter of a model must have, by its Hugging Face name, in the file's usual order. */
export function parameterShapes(config: ModelConfig): ReadonlyMap<string, readonly number[]> {
  const { hiddenSize: d, intermediateSize: f, headDim } = config;
  const [queryWidth, kvWidth] = qkvWidths(config);
  const names = projections(config);
  const joined = (each: readonly string[], widths: readonly number[]): (readonly [string, number])[] =>
    each.map((name, i) => [name, each.length === 1 ? widths.reduce((a, b) => a + b, 0) : (widths[i] ?? 0)]);
  const qkv = joined(names.qkv, [queryWidth, kvWidth, kvWidth]);
  const shapes = new Map<string, readonly number[]>([['model.embed_tokens.weight', [config.vocabSize, d]]]);
  const { attention, mlp } = NORM_NAMES[config.norms];
  for (let i = 0; i < config.numLayers; i++) {
    const add = (name: string, ...shape: number[]): unknown => shapes.set(`model.layers.${i}.${name}`, shape);
    const addNorms = (norms: readonly (string | null)[]): void => {
      for (const name of norms) if (name !== null) add(`${name}.weight`, d);
    };
    addNorms(attention);
    for (const [name, width] of qkv) add(`${name}.weight`, width, d);
    add('self_attn.o_proj.weight', d, queryWidth);
    if (config.attentionBias) {
      for (const [name, width] of qkv) add(`${name}.bias`, width);
      // Llama's attention_bias puts one on the output too, Qwen2 doesn't.
      if (config.modelType !== 'qwen2') add('self_attn.o_proj.bias', d);
    }
    if (config.qkNorm) {
      const over = config.qkNormOver === 'head';
      add('self_attn.q_norm.weight', over ? headDim : queryWidth);
      add('self_attn.k_norm.weight', over ? headDim : kvWidth);
    }
    addNorms(mlp);
    const gateUp = joined(names.gateUp, [f, f]);
    for (const [name, width] of gateUp) add(`${name}.weight`, width, d);
    add('mlp.down_proj.weight', d, f);
    if (config.mlpBias) {
      for (const [name, width] of gateUp) add(`${name}.bias`, width);
      add('mlp.down_proj.bias', d);
    }
  }
  shapes.set('model.norm.weight', [d]);
  if (!config.tieWordEmbeddings) shapes.set('lm_head.weight', [config.vocabSize, d]);
  return shapes;
}

/** Linear layers alone are quantised, as by bitsandbytes: embedding and head stay as the file has them. */
export function precisionOf(name: string, precision: WeightPrecision): WeightPrecision {
  return isQuantised(precision) && !name.endsWith('_proj.weight') ? 'stored' : precision;
}

/** Assembles a model from its parameters, asked for by Hugging Face name. */
export function assembleModel(config: ModelConfig, parameter: (name: string) => Parameter, rope: ModelRope): Model {
  const known = parameterShapes(config);
  const one = (name: string): Parameter<tf.Tensor1D> => parameter(name) as Parameter<tf.Tensor1D>;
  const two = (name: string): Parameter<tf.Tensor2D> => parameter(name) as Parameter<tf.Tensor2D>;
  const names = projections(config);
  const layers = Array.from({ length: config.numLayers }, (_, i): DecoderLayer => {
    const prefix = `model.layers.${i}`;
    const linear = (name: string): Linear => ({
      name: `${prefix}.${name}`,
      weight: two(`${prefix}.${name}.weight`),
      bias: known.has(`${prefix}.${name}.bias`) ? one(`${prefix}.${name}.bias`) : null,
    });
    const norms = (block: 'attention' | 'mlp'): Norms => {
      const [before, after] = NORM_NAMES[config.norms][block].map((name) => name && one(`${prefix}.${name}.weight`));
      return { before: before ?? null, after: after ?? null };
    };
    return {
      attentionNorms: norms('attention'),
      qkv: names.qkv.map(linear),
      o: linear('self_attn.o_proj'),
      qNorm: config.qkNorm ? one(`${prefix}.self_attn.q_norm.weight`) : null,
      kNorm: config.qkNorm ? one(`${prefix}.self_attn.k_norm.weight`) : null,
      mlpNorms: norms('mlp'),
      gateUp: names.gateUp.map(linear),
      down: linear('mlp.down_proj'),
    };
  });
  const embedding = two('model.embed_tokens.weight');
  const head = config.tieWordEmbeddings ? embedding : two('lm_head.weight');
  const maxLength = rope.main.cos.shape[0];
  return { config, embedding, layers, norm: one('model.norm.weight'), head, rope, maxLength };
}

/** The linear layers of a block, in PEFT's order of names. */
export function blockLinears(layer: DecoderLayer): readonly Linear[] {
  return [...layer.qkv, layer.o, ...layer.gateUp, layer.down];
}

/** Every parameter of one layer. */
export function layerParameters(layer: DecoderLayer): readonly Parameter[] {
  const { attentionNorms, mlpNorms } = layer;
  const norms = [
    attentionNorms.before,
    attentionNorms.after,
    layer.qNorm,
    layer.kNorm,
    mlpNorms.before,
    mlpNorms.after,
  ];
  const linears = blockLinears(layer).flatMap(({ weight, bias }) => [weight, bias]);
  return [...norms, ...linears].filter((parameter) => parameter !== null);
}

/** Every parameter of the model, once (a tied head is the embedding), in the order of `parameterShapes`. */
export function modelParameters(model: Model): readonly Parameter[] {
  const all: readonly Parameter[] = [model.embedding, ...model.layers.flatMap(layerParameters), model.norm, model.head];
  const byName = new Map(all.map((parameter) => [parameter.name, parameter]));
  return [...parameterShapes(model.config).keys()].flatMap((name) => byName.get(name) ?? []);
}

/** Frees every tensor of the model. */
export function disposeModel(model: Model): void {
  for (const { value } of modelParameters(model)) value.dispose();
  disposeModelRope(model.rope);
}

import type * as tf from '@tensorflow/tfjs-core';
import type { RopeTables } from '../tensor/ops/rope.ts';
import type { ModelConfig } from './config.ts';
import type { Parameter } from './parameter.ts';

/** y = x·Wᵀ + b, W as Hugging Face stores it: [out, in]. `name` is the module's, as PEFT writes it. */
export interface Linear {
  readonly name: string;
  readonly weight: Parameter<tf.Tensor2D>;
  readonly bias: Parameter<tf.Tensor1D> | null;
}

export interface DecoderLayer {
  readonly inputNorm: Parameter<tf.Tensor1D>;
  readonly q: Linear;
  readonly k: Linear;
  readonly v: Linear;
  readonly o: Linear;
  readonly qNorm: Parameter<tf.Tensor1D> | null;
  readonly kNorm: Parameter<tf.Tensor1D> | null;
  readonly postNorm: Parameter<tf.Tensor1D>;
  readonly gate: Linear;
  readonly up: Linear;
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
  readonly rope: RopeTables;
  readonly maxLength: number;
}

/** The shape that a parameter of a model must have, by its Hugging Face name, in the file's usual order. */
export function parameterShapes(config: ModelConfig): ReadonlyMap<string, readonly number[]> {
  const { hiddenSize: d, intermediateSize: f, headDim, numHeads, numKvHeads } = config;
  const [queryWidth, kvWidth] = [numHeads * headDim, numKvHeads * headDim];
  const shapes = new Map<string, readonly number[]>([['model.embed_tokens.weight', [config.vocabSize, d]]]);
  for (let i = 0; i < config.numLayers; i++) {
    const add = (name: string, ...shape: number[]): unknown => shapes.set(`model.layers.${i}.${name}`, shape);
    add('input_layernorm.weight', d);
    add('self_attn.q_proj.weight', queryWidth, d);
    add('self_attn.k_proj.weight', kvWidth, d);
    add('self_attn.v_proj.weight', kvWidth, d);
    add('self_attn.o_proj.weight', d, queryWidth);
    if (config.attentionBias) {
      add('self_attn.q_proj.bias', queryWidth);
      add('self_attn.k_proj.bias', kvWidth);
      add('self_attn.v_proj.bias', kvWidth);
      // Llama's attention_bias puts one on the output too, Qwen2 doesn't.
      if (config.modelType !== 'qwen2') add('self_attn.o_proj.bias', d);
    }
    if (config.qkNorm) {
      add('self_attn.q_norm.weight', headDim);
      add('self_attn.k_norm.weight', headDim);
    }
    add('post_attention_layernorm.weight', d);
    add('mlp.gate_proj.weight', f, d);
    add('mlp.up_proj.weight', f, d);
    add('mlp.down_proj.weight', d, f);
  }
  shapes.set('model.norm.weight', [d]);
  if (!config.tieWordEmbeddings) shapes.set('lm_head.weight', [config.vocabSize, d]);
  return shapes;
}

/** Assembles a model from its parameters, asked for by Hugging Face name. */
export function assembleModel(config: ModelConfig, parameter: (name: string) => Parameter, rope: RopeTables): Model {
  const known = parameterShapes(config);
  const one = (name: string): Parameter<tf.Tensor1D> => parameter(name) as Parameter<tf.Tensor1D>;
  const two = (name: string): Parameter<tf.Tensor2D> => parameter(name) as Parameter<tf.Tensor2D>;
  const layers = Array.from({ length: config.numLayers }, (_, i): DecoderLayer => {
    const prefix = `model.layers.${i}`;
    const linear = (name: string): Linear => ({
      name: `${prefix}.${name}`,
      weight: two(`${prefix}.${name}.weight`),
      bias: known.has(`${prefix}.${name}.bias`) ? one(`${prefix}.${name}.bias`) : null,
    });
    return {
      inputNorm: one(`${prefix}.input_layernorm.weight`),
      q: linear('self_attn.q_proj'),
      k: linear('self_attn.k_proj'),
      v: linear('self_attn.v_proj'),
      o: linear('self_attn.o_proj'),
      qNorm: config.qkNorm ? one(`${prefix}.self_attn.q_norm.weight`) : null,
      kNorm: config.qkNorm ? one(`${prefix}.self_attn.k_norm.weight`) : null,
      postNorm: one(`${prefix}.post_attention_layernorm.weight`),
      gate: linear('mlp.gate_proj'),
      up: linear('mlp.up_proj'),
      down: linear('mlp.down_proj'),
    };
  });
  const embedding = two('model.embed_tokens.weight');
  const head = config.tieWordEmbeddings ? embedding : two('lm_head.weight');
  const maxLength = rope.cos.shape[0];
  return { config, embedding, layers, norm: one('model.norm.weight'), head, rope, maxLength };
}

/** The seven linear layers of a block, in PEFT's order of names. */
export function blockLinears(layer: DecoderLayer): readonly Linear[] {
  return [layer.q, layer.k, layer.v, layer.o, layer.gate, layer.up, layer.down];
}

/** Every parameter of one layer. */
export function layerParameters(layer: DecoderLayer): readonly Parameter[] {
  const norms = [layer.inputNorm, layer.qNorm, layer.kNorm, layer.postNorm];
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
  model.rope.cos.dispose();
  model.rope.sin.dispose();
}

/** The weights of an encoder, read from its folder, and its layers' simplest parts. */
import * as tf from '@tensorflow/tfjs-core';
import { layerNorm } from '../../tensor/ops/layer-norm.ts';
import { openWeights } from '../open-weights.ts';
import type { EncoderConfig } from './config.ts';

export interface Linear {
  /** [out, in] as stored. */
  readonly weight: tf.Tensor2D;
  readonly bias: tf.Tensor1D;
}

export interface Norm {
  readonly weight: tf.Tensor1D;
  readonly bias: tf.Tensor1D;
}

export interface Layer {
  readonly query: Linear;
  readonly key: Linear;
  readonly value: Linear;
  readonly attended: Linear;
  readonly attendedNorm: Norm;
  readonly wide: Linear;
  readonly narrow: Linear;
  readonly outputNorm: Norm;
  /** DeBERTa's keys and queries of distances where they have weights of their own. */
  readonly distanceKey: Linear | null;
  readonly distanceQuery: Linear | null;
}

export interface EncoderWeights {
  /** [V, D] */
  readonly words: Float32Array;
  /** Null: positions have no vectors. */
  readonly positions: Float32Array | null;
  /** The first kind's vector, [D]; null: none. */
  readonly tokenType: Float32Array | null;
  readonly embeddedNorm: Norm;
  readonly layers: readonly Layer[];
  /** Of distances: biases [buckets, heads] or vectors [2 · span, D], with their norm. */
  readonly distances: Float32Array | null;
  readonly distancesNorm: Norm | null;
  dispose(): void;
}

/** Reads the weights of a folder. Throws for a missing one; nothing stays on the backend then. */
export function readEncoderWeights(folder: string, config: EncoderConfig): EncoderWeights {
  const { family, hiddenSize, distances } = config;
  const weights = openWeights(folder);
  const made: tf.Tensor[] = [];
  const dispose = (): void => tf.dispose(made);
  // Without the prefix where the model has no head.
  const read = (part: string): Float32Array => {
    const name = weights.has(part) ? part : `${family.prefix}${part}`;
    return weights.source(name, weights.shape(name)).read();
  };
  const vector = (name: string): tf.Tensor1D => {
    const values = tf.tensor1d(read(name));
    made.push(values);
    return values;
  };
  const linear = (name: string): Linear => {
    const bias = vector(`${name}.bias`);
    const values = read(`${name}.weight`);
    const weight = tf.tensor2d(values, [bias.size, values.length / bias.size]);
    made.push(weight);
    return { weight, bias };
  };
  const norm = (name: string): Norm => ({ weight: vector(`${name}.weight`), bias: vector(`${name}.bias`) });
  const layer = (i: number): Layer => {
    const own = distances?.kind === 'vectors' && !distances.sharesKeys ? distances : null;
    const at = (part: string): string => `${family.layer(i)}.${part}`;
    const { names } = family;
    return {
      query: linear(at(names.query)),
      key: linear(at(names.key)),
      value: linear(at(names.value)),
      attended: linear(at(names.attended)),
      attendedNorm: norm(at(names.attendedNorm)),
      wide: linear(at(names.wide)),
      narrow: linear(at(names.narrow)),
      outputNorm: norm(at(names.outputNorm)),
      distanceKey: own?.contentToPosition ? linear(at('attention.self.pos_key_proj')) : null,
      distanceQuery: own?.positionToContent ? linear(at('attention.self.pos_query_proj')) : null,
    };
  };
  try {
    return {
      words: read('embeddings.word_embeddings.weight'),
      positions: config.firstPosition === null ? null : read('embeddings.position_embeddings.weight'),
      tokenType: config.hasTokenTypes ? read('embeddings.token_type_embeddings.weight').slice(0, hiddenSize) : null,
      embeddedNorm: norm('embeddings.LayerNorm'),
      layers: Array.from({ length: config.layers }, (_, i) => layer(i)),
      distances:
        distances === null
          ? null
          : read(`encoder.${distances.kind === 'bias' ? 'relative_attention_bias' : 'rel_embeddings'}.weight`),
      distancesNorm: distances?.kind === 'vectors' && distances.hasNorm ? norm('encoder.LayerNorm') : null,
      dispose,
    };
  } catch (error) {
    dispose();
    throw error;
  } finally {
    weights.close();
  }
}

/** x Wᵀ + b. [N, in] → [N, out] */
export function apply(x: tf.Tensor2D, { weight, bias }: Linear): tf.Tensor2D {
  return tf.add(tf.matMul(x, weight, false, true), bias);
}

/** LayerNorm of each row. [N, D] */
export function norm(x: tf.Tensor2D, { weight, bias }: Norm, epsilon: number): tf.Tensor2D {
  return layerNorm(x, weight, bias, epsilon);
}

/** The models that the report times: shapes of published ones, with weights made on the spot. */
import * as tf from '@tensorflow/tfjs-core';
import type { ModelConfig } from '../../../model/config.ts';
import { assembleModel, type Model, parameterShapes, precisionOf } from '../../../model/model.ts';
import type { Parameter } from '../../../model/parameter.ts';
import { makeModelRope } from '../../../model/rope-tables.ts';
import { PLAIN_TRAITS } from '../../../model/traits.ts';
import { randomStream } from '../../../random.ts';
import { makeWeight, type WeightPrecision, type WeightSource } from '../../../tensor/weights.ts';
import { residentBytes, weightCount } from '../../memory/budget.ts';

export interface Shape {
  readonly name: string;
  readonly config: ModelConfig;
}

function shape(
  name: string,
  [hiddenSize, intermediateSize, numLayers]: readonly [number, number, number],
  [numHeads, numKvHeads, headDim]: readonly [number, number, number],
  vocabSize: number,
  tieWordEmbeddings = true,
): Shape {
  const rest = { rmsNormEps: 1e-5, ropeTheta: 500_000, ropeScaling: null, maxPositionEmbeddings: 4096 };
  const flags = { tieWordEmbeddings, attentionBias: false, qkNorm: false, eosTokenIds: [], padTokenId: null };
  const sizes = { vocabSize, hiddenSize, intermediateSize, numLayers, numHeads, numKvHeads, headDim };
  return { name, config: { ...PLAIN_TRAITS, modelType: 'llama', ...sizes, ...rest, ...flags } };
}

export const SHAPES: readonly Shape[] = [
  shape('tiny', [128, 344, 4], [4, 2, 32], 512),
  shape('135 M', [576, 1536, 30], [9, 3, 64], 49_152),
  shape('494 M', [896, 4864, 24], [14, 2, 64], 151_936),
  shape('1.2 B', [2048, 8192, 16], [32, 8, 64], 128_256),
  shape('3.2 B', [3072, 8192, 28], [24, 8, 128], 128_256),
];

/** Asked for by name alone: its weights take minutes to make. */
export const LARGEST = shape('8.0 B', [4096, 14_336, 32], [32, 8, 128], 128_256, false);

/** What a GPU is compared with the processor by: as small as matrix units take it. */
export const COMPARED = shape('compared', [256, 768, 2], [4, 2, 64], 512);

/** Small random bfloat16 numbers, the same block again and again: drawing billions would take longer than the report. */
const BLOCK = 2 ** 20;

function randomBlock(): Uint16Array<ArrayBuffer> {
  const { next } = randomStream(1);
  const floats = Float32Array.from({ length: BLOCK }, () => 0.04 * (next() - 0.5));
  return Uint16Array.from(new Uint32Array(floats.buffer), (word) => word >>> 16);
}

/** Weights of any size from that block. */
export function randomWeights(): WeightSource {
  const block = randomBlock();
  const raw = (first: number, count: number): Uint16Array<ArrayBuffer> => {
    const out = new Uint16Array(count);
    for (let at = 0; at < count; ) {
      const from = (first + at) % BLOCK;
      const part = block.subarray(from, Math.min(BLOCK, from + count - at));
      out.set(part, at);
      at += part.length;
    }
    return out;
  };
  const floats = (first: number, count: number): Float32Array<ArrayBuffer> =>
    new Float32Array(Uint32Array.from(raw(first, count), (word) => word << 16).buffer);
  return {
    type: 'BF16',
    read: () => {
      throw new Error('Expected weights to be read in parts');
    },
    readPart: floats,
    readRaw: (first, count) => Buffer.from(raw(first, count).buffer),
  };
}

/** A model of this shape, its linear layers in `precision` and the rest in bfloat16; norms are 1. */
export function makeModel({ config }: Shape, maxLength: number, precision: WeightPrecision): Model {
  const from = randomWeights();
  const shapes = parameterShapes(config);
  const parameter = (name: string): Parameter => {
    const own = shapes.get(name) ?? [];
    const value = own.length === 1 ? tf.fill([...own], 1) : makeWeight(from, own, precisionOf(name, precision));
    return { name, value };
  };
  return assembleModel(config, parameter, makeModelRope(config, maxLength));
}

/** Bytes of weights that a decoding step reads: each once for all rows; the embedding is the head too. */
export function weightBytes({ config }: Shape, precision: WeightPrecision): number {
  return residentBytes(config, { precision, trained: 'none' }).weights;
}

/** Multiplications and additions of a token in a forward pass: two a weight. */
export function forwardOperations({ config }: Shape): number {
  return 2 * weightCount(config);
}

import * as tf from '@tensorflow/tfjs-core';
import type { RopeTables } from '../tensor/ops/rope.ts';
import type { ModelConfig } from './config.ts';
import { amplitudeOf, scaledFrequencies } from './rope-scaling.ts';

type RopeSettings = Pick<ModelConfig, 'headDim' | 'ropeTheta' | 'ropeScaling' | 'rotaryDim' | 'longRope'>;

/**
 * Radians per position for each pair of rotated dimensions, [d/2]: theta^(-2j/d), scaled where configured, for
 * positions below `length`.
 */
export function ropeFrequencies(settings: RopeSettings, length = 0): Float64Array {
  const { headDim, rotaryDim, ropeTheta, ropeScaling, longRope } = settings;
  const frequencies = scaledFrequencies(rotaryDim ?? headDim, ropeTheta, ropeScaling, length);
  if (longRope === null) return frequencies;
  const divisors = length > longRope.originalMaxPositionEmbeddings ? longRope.longFactors : longRope.factors;
  return frequencies.map((frequency, j) => frequency / (divisors[j] ?? 1));
}

/** The tables of a model's layers. */
export interface ModelRope {
  readonly main: RopeTables;
  /** Of layers with a sliding window, where they rotate otherwise. */
  readonly local: RopeTables | null;
  /** Of queries, where these are scaled by position. */
  readonly queries: RopeTables | null;
}

/** Tables for positions below `length`. The caller disposes them. */
export function makeModelRope(config: ModelConfig, length: number): ModelRope {
  const { localRopeTheta, queryScale, wideHeads } = config;
  const local = localRopeTheta === null ? null : { ...config, ropeTheta: localRopeTheta, ropeScaling: null };
  const scaled = queryScale !== null && length > queryScale.originalMaxPositionEmbeddings;
  return {
    main: makeRopeTables({ ...config, ...wideHeads }, length),
    local: local && makeRopeTables(local, length),
    queries: scaled ? makeRopeTables(config, length, (position) => queryFactor(queryScale, position)) : null,
  };
}

function queryFactor(
  { beta, originalMaxPositionEmbeddings }: NonNullable<ModelConfig['queryScale']>,
  position: number,
): number {
  return 1 + beta * Math.log(1 + Math.floor(position / originalMaxPositionEmbeddings));
}

/** cos and sin of every position below `length`, [length, d/2] each. The caller disposes them. */
function makeRopeTables(
  config: ModelConfig,
  length: number,
  factorAt: (position: number) => number = () => 1,
): RopeTables {
  const frequencies = ropeFrequencies(config, length);
  const amplitude = config.longRope?.attentionFactor ?? amplitudeOf(config.ropeScaling);
  const half = frequencies.length;
  const cos = new Float32Array(length * half);
  const sin = new Float32Array(length * half);
  for (let position = 0; position < length; position++) {
    const scale = amplitude * factorAt(position);
    for (let j = 0; j < half; j++) {
      // The reference computes the angle in float32; the rounding shows at large positions.
      const angle = Math.fround(position * Math.fround(frequencies[j] as number));
      cos[position * half + j] = scale * Math.cos(angle);
      sin[position * half + j] = scale * Math.sin(angle);
    }
  }
  return { cos: tf.tensor2d(cos, [length, half]), sin: tf.tensor2d(sin, [length, half]) };
}

export function disposeModelRope({ main, local, queries }: ModelRope): void {
  const tables = [main, local, queries].filter((each) => each !== null);
  tf.dispose(tables.flatMap(({ cos, sin }) => [cos, sin]));
}

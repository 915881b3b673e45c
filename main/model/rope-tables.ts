import * as tf from '@tensorflow/tfjs-core';
import type { RopeTables } from '../tensor/ops/rope.ts';
import type { ModelConfig } from './config.ts';

type RopeSettings = Pick<ModelConfig, 'headDim' | 'ropeTheta' | 'ropeScaling' | 'rotaryDim' | 'longRope'>;

/** Radians per position for each pair of rotated dimensions, [d/2]: theta^(-2j/d), scaled where configured. */
export function ropeFrequencies({ headDim, rotaryDim, ropeTheta, ropeScaling, longRope }: RopeSettings): Float64Array {
  const width = rotaryDim ?? headDim;
  return Float64Array.from({ length: width / 2 }, (_, j) => {
    const frequency = ropeTheta ** ((-2 * j) / width) / (longRope?.factors[j] ?? 1);
    return ropeScaling === null ? frequency : squeeze(frequency, ropeScaling);
  });
}

/** Llama 3's scaling: long wavelengths are divided by `factor`, short ones kept, those between interpolated. */
function squeeze(frequency: number, scaling: NonNullable<ModelConfig['ropeScaling']>): number {
  const { factor, lowFreqFactor: low, highFreqFactor: high, originalMaxPositionEmbeddings: original } = scaling;
  const wavelength = (2 * Math.PI) / frequency;
  if (wavelength < original / high) return frequency;
  if (wavelength > original / low) return frequency / factor;
  const smooth = (original / wavelength - low) / (high - low);
  return ((1 - smooth) * frequency) / factor + smooth * frequency;
}

/** The tables of a model's layers: those of layers with a sliding window, where they have a base of their own. */
export interface ModelRope {
  readonly main: RopeTables;
  readonly local: RopeTables | null;
}

/** Tables for positions below `length`. The caller disposes them. */
export function makeModelRope(config: ModelConfig, length: number): ModelRope {
  const { localRopeTheta } = config;
  const local = localRopeTheta === null ? null : { ...config, ropeTheta: localRopeTheta, ropeScaling: null };
  return { main: makeRopeTables(config, length), local: local && makeRopeTables(local, length) };
}

/** cos and sin of every position below `length`, [length, d/2] each. The caller disposes them. */
function makeRopeTables(config: ModelConfig, length: number): RopeTables {
  const frequencies = ropeFrequencies(config);
  const amplitude = config.longRope?.attentionFactor ?? 1;
  const half = frequencies.length;
  const cos = new Float32Array(length * half);
  const sin = new Float32Array(length * half);
  for (let position = 0; position < length; position++) {
    for (let j = 0; j < half; j++) {
      // The reference computes the angle in float32; the rounding shows at large positions.
      const angle = Math.fround(position * Math.fround(frequencies[j] as number));
      cos[position * half + j] = amplitude * Math.cos(angle);
      sin[position * half + j] = amplitude * Math.sin(angle);
    }
  }
  return { cos: tf.tensor2d(cos, [length, half]), sin: tf.tensor2d(sin, [length, half]) };
}

export function disposeModelRope({ main, local }: ModelRope): void {
  tf.dispose([main.cos, main.sin, local?.cos, local?.sin].filter((table) => table !== undefined));
}

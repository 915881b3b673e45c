import * as tf from '@tensorflow/tfjs-core';
import type { RopeTables } from '../tensor/ops/rope.ts';
import type { ModelConfig } from './config.ts';

/** Radians per position for each pair of dimensions, [d/2]: theta^(-2j/d), with Llama 3's scaling where configured. */
export function ropeFrequencies(config: Pick<ModelConfig, 'headDim' | 'ropeTheta' | 'ropeScaling'>): Float64Array {
  const frequencies = new Float64Array(config.headDim / 2);
  for (let j = 0; j < frequencies.length; j++) {
    const frequency = config.ropeTheta ** ((-2 * j) / config.headDim);
    frequencies[j] = config.ropeScaling === null ? frequency : squeeze(frequency, config.ropeScaling);
  }
  return frequencies;
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

/** cos and sin of every position below `length`, [length, d/2] each. The caller disposes them. */
export function makeRopeTables(config: ModelConfig, length: number): RopeTables {
  const frequencies = ropeFrequencies(config);
  const half = frequencies.length;
  const cos = new Float32Array(length * half);
  const sin = new Float32Array(length * half);
  for (let position = 0; position < length; position++) {
    for (let j = 0; j < half; j++) {
      // The reference computes the angle in float32; the rounding shows at large positions.
      const angle = Math.fround(position * Math.fround(frequencies[j] as number));
      cos[position * half + j] = Math.cos(angle);
      sin[position * half + j] = Math.sin(angle);
    }
  }
  return { cos: tf.tensor2d(cos, [length, half]), sin: tf.tensor2d(sin, [length, half]) };
}

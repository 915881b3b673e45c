import * as tf from '@tensorflow/tfjs-core';
import { rmsNorm } from '../tensor/ops/rms-norm.ts';
import type { ModelConfig } from './config.ts';
import type { Parameter } from './parameter.ts';

/** RMSNorm, where the architecture has it. x [N, D] */
export function norm(
  x: tf.Tensor2D,
  weight: Parameter<tf.Tensor1D> | null,
  { unitOffset, rmsNormEps }: Pick<ModelConfig, 'unitOffset' | 'rmsNormEps'>,
): tf.Tensor2D {
  if (weight === null) return x;
  const factor: tf.Tensor1D = unitOffset ? tf.add(weight.value, 1) : weight.value;
  return rmsNorm(x, factor, rmsNormEps);
}

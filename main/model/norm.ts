import * as tf from '@tensorflow/tfjs-core';
import { rmsNorm } from '../tensor/ops/rms-norm.ts';
import type { ModelConfig } from './config.ts';
import type { Parameter } from './parameter.ts';

/** What norms multiply by where their weights are kept as offsets from 1, made once for many passes. */
export interface NormFactors {
  of(weight: Parameter<tf.Tensor1D>): tf.Tensor1D;
  dispose(): void;
}

/** Holds while the weights stay as they are. */
export function openNormFactors(): NormFactors {
  const made = new Map<string, tf.Tensor1D>();
  return {
    of: ({ name, value }) => {
      const factor = made.get(name) ?? tf.keep(fromOffset(value));
      made.set(name, factor);
      return factor;
    },
    dispose: () => tf.dispose([...made.values()]),
  };
}

function fromOffset(weight: tf.Tensor1D): tf.Tensor1D {
  return tf.add(weight, 1);
}

/** RMSNorm, where the architecture has it. x [N, D] */
export function norm(
  x: tf.Tensor2D,
  weight: Parameter<tf.Tensor1D> | null,
  { unitOffset, rmsNormEps }: Pick<ModelConfig, 'unitOffset' | 'rmsNormEps'>,
  factors?: NormFactors,
): tf.Tensor2D {
  if (weight === null) return x;
  const factor = unitOffset ? (factors?.of(weight) ?? fromOffset(weight.value)) : weight.value;
  return rmsNorm(x, factor, rmsNormEps);
}

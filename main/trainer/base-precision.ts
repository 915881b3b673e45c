/** Whether a run keeps its frozen weights in 16 bits. */
import * as tf from '@tensorflow/tfjs-core';
import type { ModelConfig } from '../model/config.ts';
import { freeTensorMemory } from '../native/free-memory.ts';
import type { NativeBackend } from '../tensor/native/binding.ts';
import { NATIVE_BACKEND } from '../tensor/native/load.ts';
import type { WeightPrecision } from '../tensor/weights.ts';
import type { TrainConfig } from './config.ts';
import { weightCount } from './memory-plan.ts';

/** Weights may take this share of what is free: the rest is for the cache and activations. */
const SHARE = 0.6;

/** The precision for a model under the current backend. Only frozen weights, on native alone, can be bfloat16. */
export function basePrecision(
  config: Pick<TrainConfig, 'use_peft' | 'base_weights'>,
  model: ModelConfig,
): WeightPrecision {
  if (!config.use_peft || tf.getBackend() !== NATIVE_BACKEND) return 'float32';
  if (config.base_weights !== 'auto') return config.base_weights;
  const { isUsingGpuDevice } = tf.backend() as NativeBackend;
  return precisionWithin(weightCount(model), freeTensorMemory(isUsingGpuDevice));
}

/** float32 while so many weights leave room for the rest in the free bytes. */
export function precisionWithin(weights: number, freeBytes: number): WeightPrecision {
  return 4 * weights <= SHARE * freeBytes ? 'float32' : 'bfloat16';
}

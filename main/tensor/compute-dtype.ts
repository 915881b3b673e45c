/**
 * What the products of a model's weights are computed in, forward and backward: float32, or numbers that are rounded to
 * bfloat16 as they are multiplied, with float32 sums. Everything else is float32 in both: adapters, norms, softmax, the
 * optimiser, and attention but for its products on a GPU's matrix units.
 */
import * as tf from '@tensorflow/tfjs-core';
import { inputError } from '../errors.ts';

export type ComputeDtype = 'float32' | 'bfloat16';

/** Why a backend has no bfloat16, and what to do about it. */
export interface NoBfloat16 {
  readonly why: string;
  readonly remedy: string;
}

const IN_FLOAT32 = 'Set compute_dtype to float32';

const OTHER_BACKEND: NoBfloat16 = {
  why: 'only the native and webgpu backends have it',
  remedy: `${IN_FLOAT32}, or backend to native on a processor with AVX-512 BF16, or to webgpu on a GPU with matrix units.`,
};

/** Of weights in fewer bits than float32, and of those in float32. */
type Found = readonly [missing: NoBfloat16 | null, ofFloat32: NoBfloat16 | null];

const found = new Map<string, Found>();
let current: ComputeDtype = 'float32';

/** Says whether a backend has it, and has it for weights in float32; null: it does. Those that say nothing don't. */
export function registerBfloat16(backendName: string, missing: NoBfloat16 | null, ofFloat32 = missing): void {
  found.set(backendName, [missing, ofFloat32]);
}

/** Why the current backend has no bfloat16; null: it has. */
export function whyNoBfloat16(areFloat32 = false): NoBfloat16 | null {
  const [missing, ofFloat32] = found.get(tf.getBackend()) ?? [OTHER_BACKEND, OTHER_BACKEND];
  return areFloat32 ? ofFloat32 : missing;
}

/** Sets it for all that this process computes from now on; throws where the current backend can't with such weights. */
export function setComputeDtype(dtype: ComputeDtype, areFloat32 = false): void {
  const missing = dtype === 'bfloat16' ? whyNoBfloat16(areFloat32) : null;
  if (missing !== null)
    throw inputError(
      'NO_BFLOAT16',
      `compute_dtype bfloat16 can't be had here: ${missing.why}. Nothing was started.`,
      missing.remedy,
    );
  current = dtype;
}

/** What `work` gives, computed in `dtype`; float32 afterwards. */
export function computedIn<T>(dtype: ComputeDtype, work: () => T): T {
  setComputeDtype(dtype);
  try {
    return work();
  } finally {
    setComputeDtype('float32');
  }
}

/** Whether kernels are to round what they multiply weights with. */
export function roundsProducts(): boolean {
  return current === 'bfloat16';
}

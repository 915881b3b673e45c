/** Opens the webgpu backend and makes it tfjs's current one. */
import * as tf from '@tensorflow/tfjs-core';
import { type NoBfloat16, registerBfloat16 } from '../compute-dtype.ts';
import { WEBGPU_BACKEND, WebGpuBackend } from './backend.ts';
import { checkMatrixUnits } from './check-units.ts';
import { Gpu } from './gpu.ts';
import type { GpuOptions } from './gpu-options.ts';
import type { MatrixUnit } from './matrix-units.ts';
import { registerWebGpuKernels } from './register.ts';
import { measureSpeed } from './speed.ts';

const NO_UNITS: NoBfloat16 = {
  why: 'this GPU has no matrix units that WebGPU offers',
  remedy: 'Set compute_dtype to float32.',
};
const FLOAT32_UNITS: NoBfloat16 = {
  why: "this GPU's matrix units multiply float32 numbers: rounding them would gain nothing",
  remedy: 'Set compute_dtype to float32.',
};
const WIDE: NoBfloat16 = {
  why: "a GPU's matrix units take weights of 16 bits and fewer, and these are float32",
  remedy: 'Set compute_dtype to float32; or use_peft to true and base_weights to auto.',
};

/** Why products on these units can't be rounded to bfloat16, with weights of 16 bits and fewer, and with float32 ones. */
export function noBfloat16(unit: MatrixUnit | null): readonly [NoBfloat16 | null, NoBfloat16] {
  if (unit?.element === 'f16') return [null, WIDE];
  const missing = unit === null ? NO_UNITS : FLOAT32_UNITS;
  return [missing, missing];
}

/** Throws a BraidError that says why where there is no GPU to open. */
export async function openWebGpuBackend(options: GpuOptions = {}): Promise<WebGpuBackend> {
  const backend = new WebGpuBackend(Gpu.open(options));
  if (tf.findBackendFactory(WEBGPU_BACKEND) != null) tf.removeBackend(WEBGPU_BACKEND);
  tf.registerBackend(WEBGPU_BACKEND, () => backend, 3);
  registerWebGpuKernels(backend);
  await tf.setBackend(WEBGPU_BACKEND);
  const { gpu } = backend;
  gpu.deadline = options.deadline ?? Number.POSITIVE_INFINITY;
  try {
    checkMatrixUnits(backend);
  } catch {
    // Its driver can't be trusted with matrix units; the rest of it may be sound.
    abandonWebGpuBackend(backend);
    return openWebGpuBackend({ ...options, matrixUnits: false });
  }
  gpu.deadline = Number.POSITIVE_INFINITY;
  registerBfloat16(WEBGPU_BACKEND, ...noBfloat16(gpu.matrixUnit));
  // A GPU that is only tried is measured once it is chosen: its programs take time to compile.
  if (!shouldMeasure(options, backend)) return backend;
  try {
    measureSpeed(backend);
  } catch (error) {
    abandonWebGpuBackend(backend);
    throw error;
  }
  return backend;
}

const shouldMeasure = ({ checksOnly, mostWork, deadline }: GpuOptions, { gpu }: WebGpuBackend): boolean =>
  !gpu.adapter.software && checksOnly !== true && mostWork === undefined && deadline === undefined;

/** Disposes of the backend with all its tensors and gives the GPU back. */
export async function closeWebGpuBackend(backend: WebGpuBackend): Promise<void> {
  if (tf.findBackend(WEBGPU_BACKEND) === backend) tf.removeBackend(WEBGPU_BACKEND);
  await backend.gpu.close();
}

/** The same of one that doesn't answer, without waiting for it. */
export function abandonWebGpuBackend(backend: WebGpuBackend): void {
  if (tf.findBackend(WEBGPU_BACKEND) === backend) tf.removeBackend(WEBGPU_BACKEND);
  backend.gpu.abandon();
}

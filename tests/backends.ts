/** The tensor backends that this machine can run, for suites that hold on each of them. */
import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import '../main/tensor/gradients.ts';
import { problemSentence } from '../main/native/problems.ts';
import { buildKernels } from '../main/tensor/kernels/build.ts';
import { NATIVE_BACKEND } from '../main/tensor/native/load.ts';
import { openNativeBackend } from '../main/tensor/native/open.ts';
import { openWasmBackend } from '../main/tensor/wasm/boot.ts';
import { WEBGPU_BACKEND, type WebGpuBackend } from '../main/tensor/webgpu/backend.ts';
import { openWebGpuBackend } from '../main/tensor/webgpu/open.ts';
import { nativeUnderTest } from './native-under-test.ts';
import { chooseTestGpu, skipWithoutGpu } from './software-gpu.ts';

export interface TestBackend {
  readonly name: string;
  /**
   * A GPU that the processor plays takes up to fifty times as long: of cases that differ in what holds for every
   * backend alike, suites take some on it, and all on the others and on a real GPU.
   */
  readonly slow: boolean;
  /** Makes it tfjs's current backend. */
  use(): Promise<void>;
}

/** Every composite op; a backend without a kernel for one of them is not ready for the model suites. */
const COMPOSITE_OPS = [
  ...['RmsNorm', 'RmsNormGradX', 'RmsNormGradWeight', 'Rope', 'GatherRows', 'ScatterAddRows', 'SwiGlu', 'SwiGluGrad'],
  ...['PackedAttention', 'PackedAttentionGrad', 'SelectiveLogSoftmax', 'SelectiveLogSoftmaxGrad', 'SampleRows'],
];

const use = (name: string): TestBackend => ({ name, slow: false, use: async () => void (await tf.setBackend(name)) });

/**
 * The portable backend, the embedded one once all its kernels are there, the native one where it is tested, and a GPU,
 * by Chromium's software driver where there is one.
 */
export async function openTestBackends(): Promise<readonly TestBackend[]> {
  const native = await openNative();
  const gpu = await openGpu();
  await openWasmBackend({ kernelsFile: buildKernels(), threads: 2 });
  const missing = COMPOSITE_OPS.filter((op) => tf.getKernel(op, 'wasm') === undefined);
  if (missing.length > 0) console.warn(`wasm is left out, it has no kernel for ${missing.join(', ')}`);
  return [use('cpu'), ...(missing.length > 0 ? [] : [use('wasm')]), ...native, ...gpu];
}

/** A native backend that was asked for and doesn't open is a failure: nobody is to take a skipped suite for a passed one. */
async function openNative(): Promise<readonly TestBackend[]> {
  if (nativeUnderTest === null) return [];
  const opened = await openNativeBackend(2, nativeUnderTest);
  if (opened.ok) return [{ ...use(NATIVE_BACKEND), name: 'native' }];
  throw new Error(`Expected the native backend to open, but ${problemSentence(opened.problem)}`);
}

/** Once a process, whose files share what was compiled for it: on a software adapter that takes most of the time. */
async function openGpu(): Promise<readonly TestBackend[]> {
  try {
    chooseTestGpu();
    const open = tf.findBackend(WEBGPU_BACKEND) as WebGpuBackend | null;
    const { gpu } = open ?? (await openWebGpuBackend());
    return [{ ...use(WEBGPU_BACKEND), slow: gpu.adapter.software }];
  } catch (error) {
    skipWithoutGpu(error);
    return [];
  }
}

/** Runs and says how many tensors were left over. */
export function tensorsLeft(run: () => void): number {
  const before = tf.memory().numTensors;
  run();
  return tf.memory().numTensors - before;
}

/** The tensor backends that this machine can run, for suites that hold on each of them. */
import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import '../main/tensor/gradients.ts';
import { buildKernels } from '../main/tensor/kernels/build.ts';
import { openWasmBackend } from '../main/tensor/wasm/boot.ts';

export interface TestBackend {
  readonly name: string;
  /** Makes it tfjs's current backend. */
  use(): Promise<void>;
}

/** Every composite op; a backend without a kernel for one of them is not ready for the model suites. */
const COMPOSITE_OPS = [
  ...['RmsNorm', 'RmsNormGradX', 'RmsNormGradWeight', 'Rope', 'GatherRows', 'ScatterAddRows', 'SwiGlu', 'SwiGluGrad'],
  ...['PackedAttention', 'PackedAttentionGrad', 'SelectiveLogSoftmax', 'SelectiveLogSoftmaxGrad', 'SampleRows'],
];

const use = (name: string): TestBackend => ({ name, use: async () => void (await tf.setBackend(name)) });

/** The portable backend and, once all its kernels are there, the embedded one. */
export async function openTestBackends(): Promise<readonly TestBackend[]> {
  await openWasmBackend({ kernelsFile: buildKernels(), threads: 2 });
  const missing = COMPOSITE_OPS.filter((op) => tf.getKernel(op, 'wasm') === undefined);
  if (missing.length > 0) console.warn(`wasm is left out, it has no kernel for ${missing.join(', ')}`);
  return missing.length > 0 ? [use('cpu')] : [use('cpu'), use('wasm')];
}

/** Runs and says how many tensors were left over. */
export function tensorsLeft(run: () => void): number {
  const before = tf.memory().numTensors;
  run();
  return tf.memory().numTensors - before;
}

/** Times each call of the current backend's kernels, by putting a clock around them. */
import * as tf from '@tensorflow/tfjs-core';
import type { KernelWork } from './op-costs.ts';

export interface KernelCall extends KernelWork {
  readonly seconds: number;
  /** Of all threads. */
  readonly cpuSeconds: number;
}

/**
 * Reports every call of a kernel to `onCall` until the function that it returns is called. A kernel that calls others is
 * one call. Only for backends that work while they are called: a GPU's kernels would show the time to queue them.
 */
export function profileKernels(onCall: (call: KernelCall) => void): () => void {
  const backendName = tf.getBackend();
  const backend = tf.backend();
  const before = tf.getKernelsForBackend(backendName);
  let depth = 0;
  for (const config of before) {
    const { kernelName: name, kernelFunc } = config;
    replace(config, (params) => {
      if (depth > 0) return kernelFunc(params);
      depth++;
      const [began, cpu] = [performance.now(), process.cpuUsage()];
      try {
        const result = kernelFunc(params);
        const seconds = (performance.now() - began) / 1000;
        const { user, system } = process.cpuUsage(cpu);
        const inputs = params.inputs as Readonly<Record<string, tf.TensorInfo>>;
        onCall({
          ...{ name, inputs, seconds, cpuSeconds: (user + system) / 1e6, attrs: params.attrs ?? {} },
          outputs: Array.isArray(result) ? result : [result],
          values: (input) => {
            const { dataId } = inputs[input] ?? {};
            return dataId === undefined ? [] : (backend.readSync(dataId) as Int32Array);
          },
        });
        return result;
      } finally {
        depth--;
      }
    });
  }
  return () => {
    for (const config of before) replace(config, config.kernelFunc);
  };
}

function replace(config: tf.KernelConfig, kernelFunc: tf.KernelFunc): void {
  tf.unregisterKernel(config.kernelName, config.backendName);
  tf.registerKernel({ ...config, kernelFunc });
}

/** Times each call of the current backend's kernels, by putting a clock around them. */
import * as tf from '@tensorflow/tfjs-core';
import type { KernelWork } from './op-costs.ts';

export interface KernelCall extends KernelWork {
  readonly seconds: number;
  /** Of all threads. */
  readonly cpuSeconds: number;
}

/** A call that is about to be made. */
export type KernelStart = Pick<KernelCall, 'name' | 'inputs' | 'attrs'>;

/**
 * Reports every call of a kernel to `onCall` until the function that it returns is called. A kernel that calls others is
 * one call. `onStart` hears of it first. On a GPU, whose work is only queued, the seconds are those of queueing it.
 */
export function profileKernels(
  onCall: (call: KernelCall) => void,
  onStart: (call: KernelStart) => void = () => undefined,
): () => void {
  const backendName = tf.getBackend();
  const backend = tf.backend();
  const before = tf.getKernelsForBackend(backendName);
  let depth = 0;
  for (const config of before) {
    const { kernelName: name, kernelFunc } = config;
    replace(config, (params) => {
      if (depth > 0) return kernelFunc(params);
      depth++;
      const inputs = params.inputs as Readonly<Record<string, tf.TensorInfo>>;
      const attrs = params.attrs ?? {};
      onStart({ name, inputs, attrs });
      const [began, cpu] = [performance.now(), process.cpuUsage()];
      try {
        const result = kernelFunc(params);
        const seconds = (performance.now() - began) / 1000;
        const { user, system } = process.cpuUsage(cpu);
        onCall({
          ...{ name, inputs, seconds, cpuSeconds: (user + system) / 1e6, attrs },
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

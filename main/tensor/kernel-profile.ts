/** Times each call of the current backend's kernels, by putting a clock around them. */
import * as tf from '@tensorflow/tfjs-core';
import { type KernelWork, workOf } from './op-costs.ts';

export interface KernelCall extends KernelWork {
  readonly seconds: number;
  /** Of all threads. */
  readonly cpuSeconds: number;
}

/** A call that is about to be made. */
export type KernelStart = Pick<KernelCall, 'name' | 'inputs' | 'attrs'>;

/** How work below tfjs's kernels is reported while a profile is taken: it runs, and counts as these calls. */
let report: ((works: readonly KernelWork[], run: () => void) => void) | null = null;

/** Whether a profile is taken. */
export function isProfiling(): boolean {
  return report !== null;
}

/** Runs work below tfjs's kernels, and reports it while a profile is taken. */
export function profiled(works: () => readonly KernelWork[], run: () => void): void {
  if (report === null) run();
  else report(works(), run);
}

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
  const outer = report;
  report = (works, run) => {
    if (depth > 0) return run();
    for (const { name, inputs, attrs } of works) onStart({ name, inputs, attrs });
    const taken = timed(run);
    // Together they have one time: it is divided by their operations, of which each has some.
    const flops = works.map((work) => Math.max(1, workOf(work).flop));
    const all = flops.reduce((sum, flop) => sum + flop, 0);
    works.forEach((work, i) => {
      const share = (flops[i] as number) / all;
      onCall({ ...work, seconds: taken.seconds * share, cpuSeconds: taken.cpuSeconds * share });
    });
  };
  for (const config of before) {
    const { kernelName: name, kernelFunc } = config;
    replace(config, (params) => {
      if (depth > 0) return kernelFunc(params);
      depth++;
      const inputs = params.inputs as Readonly<Record<string, tf.TensorInfo>>;
      const attrs = params.attrs ?? {};
      onStart({ name, inputs, attrs });
      try {
        const { result, seconds, cpuSeconds } = timed(() => kernelFunc(params));
        onCall({
          name,
          inputs,
          seconds,
          cpuSeconds,
          attrs,
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
    report = outer;
    for (const config of before) replace(config, config.kernelFunc);
  };
}

function timed<T>(work: () => T): { readonly result: T; readonly seconds: number; readonly cpuSeconds: number } {
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  const result = work();
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return { result, seconds, cpuSeconds: (user + system) / 1e6 };
}

function replace(config: tf.KernelConfig, kernelFunc: tf.KernelFunc): void {
  tf.unregisterKernel(config.kernelName, config.backendName);
  tf.registerKernel({ ...config, kernelFunc });
}

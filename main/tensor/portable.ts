import * as tf from '@tensorflow/tfjs-core';

/** Backends that run a composite op by its portable implementation unless they have a kernel of their own. */
const PORTABLE_BACKENDS = ['cpu', 'tensorflow'] as const;
/** For ops that wasm alone has a kernel of, beside the processor's on native. */
export const EXCEPT_WASM = [...PORTABLE_BACKENDS, 'webgpu'] as const;
/** For ops that no backend has a kernel of. */
export const ALL_BACKENDS = [...EXCEPT_WASM, 'wasm'] as const;

export type Tensors = Readonly<Record<string, tf.Tensor>>;

/**
 * Registers a composite op's portable implementation, written in plain tf ops, as a kernel of the same name.
 * The op is then one entry on the gradient tape on every backend, and a backend's own kernel replaces it by name.
 */
export function registerPortable<A>(
  name: string,
  run: (inputs: Tensors, attrs: A) => tf.Tensor | tf.Tensor[],
  backends: readonly string[] = PORTABLE_BACKENDS,
): void {
  for (const backendName of backends) {
    tf.registerKernel({
      kernelName: name,
      backendName,
      // The engine hands kernels the very tensors that it was given, and takes tensors back.
      kernelFunc: ({ inputs, attrs }) => tf.tidy(() => run(inputs as unknown as Tensors, attrs as unknown as A)),
    });
  }
}

/** Runs the kernel `name` of the current backend; it goes onto the gradient tape as one op. */
export function runOp<T extends tf.Tensor | tf.Tensor[]>(name: string, inputs: Tensors, attrs: object = {}): T {
  return tf.engine().runKernel(name, inputs as tf.NamedTensorMap, attrs as tf.NamedAttrMap) as T;
}

/** The input called `name`; a missing one is a bug in our code. */
export function input<T extends tf.Tensor = tf.Tensor>(inputs: Tensors, name: string): T {
  const tensor = inputs[name];
  if (tensor === undefined)
    throw new Error(`Expected an input tensor "${name}", got ${Object.keys(inputs).join(', ')}`);
  return tensor as T;
}

/** The n-th tensor that the tape saved for a gradient. */
export function savedTensor<T extends tf.Tensor = tf.Tensor>(saved: readonly tf.Tensor[], n: number): T {
  const tensor = saved[n];
  if (tensor === undefined) throw new Error(`Expected at least ${n + 1} saved tensors, got ${saved.length}`);
  return tensor as T;
}

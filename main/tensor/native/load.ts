/**
 * Loads the package's backend over our own tfjs-core. Its entry file would bring a second tfjs with layers, data and
 * WebGL; the backend and its kernels need the core alone.
 */
import { createRequire, registerHooks } from 'node:module';
import { join } from 'node:path';
import util from 'node:util';
import * as tf from '@tensorflow/tfjs-core';
import type { NativeLayout } from '../../native/folder.ts';
import type { NativeBackend, NativeBackendClass, NativeBinding } from './binding.ts';
import { sharingConstants } from './constants.ts';

/** The name under which the package registers its kernels. */
export const NATIVE_BACKEND = 'tensorflow';

const PACKAGE = '@tensorflow/tfjs-node-gpu';

/** Loads addon and kernels and registers the backend. Only after a probe has gone well. */
export function loadNativeBackend(layout: NativeLayout, threads: number): NativeBackend {
  prepareEnvironment(threads);
  restoreUtil();
  const hooks = registerHooks({ resolve: redirect });
  try {
    const require = createRequire(join(layout.package, 'dist/index.js'));
    const binding = require(layout.addon) as NativeBinding;
    const { NodeJSKernelBackend } = require('./nodejs_kernel_backend.js') as {
      NodeJSKernelBackend: NativeBackendClass;
    };
    if (tf.getKernelsForBackend(NATIVE_BACKEND).every(({ kernelName }) => kernelName !== 'BatchMatMul'))
      require('./register_all_kernels.js');
    const backend = new NodeJSKernelBackend(sharingConstants(binding), PACKAGE);
    if (tf.findBackendFactory(NATIVE_BACKEND) != null) tf.removeBackend(NATIVE_BACKEND);
    tf.registerBackend(NATIVE_BACKEND, () => backend, 3);
    return backend;
  } finally {
    hooks.deregister();
  }
}

const core = createRequire(import.meta.url).resolve('@tensorflow/tfjs-core');

type Resolve = NonNullable<Parameters<typeof registerHooks>[0]['resolve']>;

const redirect: Resolve = (specifier, context, next) => {
  if (specifier === '@tensorflow/tfjs' || specifier === '@tensorflow/tfjs-core') return next(core, context);
  // Protocol buffers serve the package's summaries for TensorBoard, which nobody asks for here.
  if (specifier === './proto/api_pb') return next('node:util', context);
  return next(specifier, context);
};

/** Node 23 took these out; the package's kernels call them. */
function restoreUtil(): void {
  Object.assign(util, { isArray: Array.isArray, isNullOrUndefined: (x: unknown) => x === null || x === undefined });
}

/** TensorFlow reads these once, when it is loaded. What a person has set stays. */
function prepareEnvironment(threads: number): void {
  process.env.TF_NUM_INTRAOP_THREADS ??= String(threads);
  process.env.OMP_NUM_THREADS ??= String(threads);
  // Its messages would fill the tail of stderr that explains a crash.
  process.env.TF_CPP_MIN_LOG_LEVEL ??= '2';
  // On processors with AVX-512 it is on by default, and with it an allocator that waits ten seconds before it says that
  // there is no memory left. Our kernels don't use it.
  process.env.TF_ENABLE_ONEDNN_OPTS ??= '0';
  // All of a GPU's memory at once would starve the desktop that shares it.
  process.env.TF_FORCE_GPU_ALLOW_GROWTH ??= 'true';
}

/** Opens the native backend when a set-up is there and works, and else says why not. */
import * as tf from '@tensorflow/tfjs-core';
import { currentLayout, type NativeLayout, readManifest } from '../../native/folder.ts';
import { prepareGpu } from '../../native/gpu-settings.ts';
import { crashedBefore, underMark } from '../../native/load-marker.ts';
import { canProbe, probeAddon } from '../../native/probe.ts';
import type { NativeProblem } from '../../native/problems.ts';
import type { NativeBackend } from './binding.ts';
import { hasKernels } from './cpu/run-kernel.ts';
import { loadNativeBackend, NATIVE_BACKEND } from './load.ts';
import { registerNativeKernels } from './register.ts';

export type NativeOpening =
  | {
      readonly ok: true;
      readonly backend: NativeBackend;
      readonly tensorflow: string;
      readonly gpu: boolean;
      /** Whether the addon brings our kernels for the processor. */
      readonly kernels: boolean;
    }
  | { readonly ok: false; readonly problem: NativeProblem };

/** Tries the set-up, in a process of its own where one can be had, then makes it tfjs's current backend. */
export async function openNativeBackend(
  threads: number,
  layout: NativeLayout = currentLayout(),
): Promise<NativeOpening> {
  const manifest = readManifest(layout);
  if (manifest === null) return { ok: false, problem: { kind: 'not-set-up', detail: layout.root } };
  // Before the trial: it loads the same libraries with the same environment.
  if (manifest.cuda) prepareGpu();
  const problem = await trial(layout);
  if (problem !== null) return { ok: false, problem };
  try {
    const loading = (): Promise<NativeBackend> => load(layout, threads);
    const backend = await (canProbe() ? loading() : underMark(layout, loading));
    const { binding, isUsingGpuDevice: gpu } = backend;
    return { ok: true, backend, tensorflow: String(binding.TF_Version), gpu, kernels: hasKernels(binding) };
  } catch (error) {
    const detail = error instanceof Error ? error.message.split('\n', 1).join('') : String(error);
    return { ok: false, problem: { kind: 'crashed', detail } };
  }
}

async function trial(layout: NativeLayout): Promise<NativeProblem | null> {
  if (!canProbe()) return crashedBefore(layout);
  const probe = await probeAddon(layout.addon);
  return probe.ok ? null : probe.problem;
}

/** Loads it and computes once: a library that can't is found while the mark stands. */
async function load(layout: NativeLayout, threads: number): Promise<NativeBackend> {
  const backend = loadNativeBackend(layout, threads);
  registerNativeKernels(backend, NATIVE_BACKEND, threads);
  await tf.setBackend(NATIVE_BACKEND);
  const [product] = tf.tidy(() => tf.matMul(tf.ones([1, 3]), tf.ones([3, 1])).dataSync<'float32'>());
  if (product !== 3) throw new Error(`expected 1·1 + 1·1 + 1·1 to be 3, got ${product}`);
  return backend;
}

/** Takes the backend away with all its tensors. The library itself stays loaded: it can't be unloaded. */
export function closeNativeBackend(): void {
  if (tf.findBackendFactory(NATIVE_BACKEND) != null) tf.removeBackend(NATIVE_BACKEND);
}

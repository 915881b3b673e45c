/** Opens the native backend when a set-up is there and works, and else says why not. */
import * as tf from '@tensorflow/tfjs-core';
import { currentLayout, type NativeLayout, readManifest } from '../../native/folder.ts';
import { probeAddon } from '../../native/probe.ts';
import type { NativeProblem } from '../../native/problems.ts';
import type { NativeBackend } from './binding.ts';
import { loadNativeBackend, NATIVE_BACKEND } from './load.ts';
import { registerNativeKernels } from './register.ts';

export type NativeOpening =
  | { readonly ok: true; readonly backend: NativeBackend; readonly tensorflow: string; readonly gpu: boolean }
  | { readonly ok: false; readonly problem: NativeProblem };

/** Tries the set-up in a process of its own, then loads it and makes it tfjs's current backend. */
export async function openNativeBackend(
  threads: number,
  layout: NativeLayout = currentLayout(),
): Promise<NativeOpening> {
  if (readManifest(layout) === null) return { ok: false, problem: { kind: 'not-set-up', detail: layout.root } };
  const probe = await probeAddon(layout.addon);
  if (!probe.ok) return probe;
  try {
    const backend = loadNativeBackend(layout, threads);
    registerNativeKernels(backend, NATIVE_BACKEND);
    await tf.setBackend(NATIVE_BACKEND);
    return { ok: true, backend, tensorflow: probe.facts.tensorflow, gpu: backend.isUsingGpuDevice };
  } catch (error) {
    const detail = error instanceof Error ? error.message.split('\n', 1).join('') : String(error);
    return { ok: false, problem: { kind: 'crashed', detail } };
  }
}

/** Takes the backend away with all its tensors. The library itself stays loaded: it can't be unloaded. */
export function closeNativeBackend(): void {
  if (tf.findBackendFactory(NATIVE_BACKEND) != null) tf.removeBackend(NATIVE_BACKEND);
}

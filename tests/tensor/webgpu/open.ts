/** The GPU backend for a suite of its own: null where there is no adapter, which the suite then says. */
import '../../../main/tensor/gradients.ts';
import type { WebGpuBackend } from '../../../main/tensor/webgpu/backend.ts';
import type { GpuOptions } from '../../../main/tensor/webgpu/gpu-options.ts';
import { openWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { chooseTestGpu, skipWithoutGpu } from '../../software-gpu.ts';

export async function openGpuForTest(options: GpuOptions = {}): Promise<WebGpuBackend | null> {
  try {
    chooseTestGpu();
    return await openWebGpuBackend(options);
  } catch (error) {
    skipWithoutGpu(error);
    return null;
  }
}

/** The open backend of a suite that runs only where there is one. */
export function opened(backend: WebGpuBackend | null): WebGpuBackend {
  if (backend === null) throw new Error('Expected this suite to be skipped without a GPU');
  return backend;
}

/** Dispatches so far of programs on matrix units whose names have `what` in them. */
export function byUnits({ gpu }: WebGpuBackend, what = ''): number {
  return [...gpu.counts.byProgram]
    .filter(([name]) => name.includes(what) && name.includes(' by units'))
    .reduce((sum, [, count]) => sum + count, 0);
}

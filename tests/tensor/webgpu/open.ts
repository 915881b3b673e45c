/** The GPU backend for a suite of its own: null where there is no adapter, which the suite then says. */
import '../../../main/tensor/gradients.ts';
import type { WebGpuBackend } from '../../../main/tensor/webgpu/backend.ts';
import { openWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { chooseTestGpu } from '../../software-gpu.ts';

export async function openGpuForTest(budgetBytes?: number): Promise<WebGpuBackend | null> {
  try {
    chooseTestGpu();
    return await openWebGpuBackend(budgetBytes === undefined ? {} : { budgetBytes });
  } catch (error) {
    console.warn(`webgpu is skipped: ${error instanceof Error ? error.message : error}`);
    return null;
  }
}

/** The open backend of a suite that runs only where there is one. */
export function opened(backend: WebGpuBackend | null): WebGpuBackend {
  if (backend === null) throw new Error('Expected this suite to be skipped without a GPU');
  return backend;
}

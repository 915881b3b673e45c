import type { WasmRuntime } from './runtime.ts';
import { registerWasmKernel } from './runtime.ts';

/**
 * A clone shares its original's memory. The stock kernel copies, and the gradient tape clones everything that it
 * saves, so each activation would exist twice.
 */
export function registerIdentity({ backend }: WasmRuntime): void {
  registerWasmKernel('Identity', ({ inputs }) => {
    const { x } = inputs;
    if (x === undefined) throw new Error('Expected an input tensor "x", got none');
    backend.incRef(x.dataId);
    return { dataId: x.dataId, shape: x.shape, dtype: x.dtype };
  });
}

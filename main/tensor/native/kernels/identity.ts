import { registerKernel, type TensorInfo, unregisterKernel } from '@tensorflow/tfjs-core';
import type { NativeBackend } from '../binding.ts';

/** 'Identity', which tfjs runs on all that its tape saves: the same tensor once more, without asking TensorFlow. */
export function registerIdentity(backend: NativeBackend, backendName: string): void {
  unregisterKernel('Identity', backendName);
  registerKernel({
    kernelName: 'Identity',
    backendName,
    kernelFunc: ({ inputs }) => {
      const { dataId, shape, dtype } = inputs.x as TensorInfo;
      backend.incRef(dataId);
      return { dataId, shape, dtype };
    },
  });
}

import { getKernel, registerKernel, type TensorInfo, unregisterKernel } from '@tensorflow/tfjs-core';

/**
 * 'Identity' as the same memory once more. The stock kernels copy, and the gradient tape clones all that it saves, so
 * each activation would exist twice.
 */
export function registerIdentity(backend: { incRef(dataId: object): void }, backendName: string): void {
  if (getKernel('Identity', backendName) != null) unregisterKernel('Identity', backendName);
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

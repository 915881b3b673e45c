/** Addition on all threads: residuals and the sums of their gradients. The stock kernel has one. */
import { Add } from '@tensorflow/tfjs-core';
import { ADD, FLAT_TILE } from '../kernels/ids.ts';
import { registerWasmKernel, stockKernel, tensorInput, tensorSize, type WasmRuntime } from './runtime.ts';

/** Registers 'Add' for float32 tensors of one shape; the stock kernel does the rest. */
export function registerAdd({ heap, pool }: WasmRuntime): void {
  const stock = stockKernel(Add);
  registerWasmKernel(Add, (params) => {
    const [a, b] = [tensorInput(params.inputs, 'a'), tensorInput(params.inputs, 'b')];
    const isAlike = a.shape.length === b.shape.length && a.shape.every((size, axis) => size === b.shape[axis]);
    if (stock !== null && !(isAlike && a.dtype === 'float32' && b.dtype === 'float32')) return stock.kernelFunc(params);
    return heap.allOrNone(() => {
      const [left, right] = [heap.pointer(a), heap.pointer(b)];
      const out = heap.output(a.shape, 'float32');
      const size = tensorSize(out);
      pool.run(ADD, [left, right, heap.pointer(out), size], Math.ceil(size / FLAT_TILE));
      return out;
    });
  });
}

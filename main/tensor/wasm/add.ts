/** Addition on all threads: residuals, the sums of their gradients, biases. The stock kernel has one. */
import { Add, type TensorInfo } from '@tensorflow/tfjs-core';
import { ADD, ADD_TO_ROWS, FLAT_TILE } from '../kernels/ids.ts';
import { runRows } from './fused.ts';
import { registerWasmKernel, stockKernel, tensorInput, tensorSize, type WasmRuntime } from './runtime.ts';

/** Registers 'Add' for float32 tensors of one shape, and a row added to all of a matrix; the stock kernel does the rest. */
export function registerAdd({ heap, pool }: WasmRuntime): void {
  const stock = stockKernel(Add);
  registerWasmKernel(Add, (params) => {
    const [a, b] = [tensorInput(params.inputs, 'a'), tensorInput(params.inputs, 'b')];
    const isFloat = a.dtype === 'float32' && b.dtype === 'float32';
    const isAlike = a.shape.length === b.shape.length && a.shape.every((size, axis) => size === b.shape[axis]);
    if (isFloat && isRowOf(b, a)) return heap.allOrNone(() => addRow(a, b));
    if (stock !== null && !(isAlike && isFloat)) return stock.kernelFunc(params);
    return heap.allOrNone(() => {
      const [left, right] = [heap.pointer(a), heap.pointer(b)];
      const out = heap.output(a.shape, 'float32');
      const size = tensorSize(out);
      pool.run(ADD, [left, right, heap.pointer(out), size], Math.ceil(size / FLAT_TILE));
      return out;
    });
  });

  function addRow(x: TensorInfo, row: TensorInfo): TensorInfo {
    const [rows = 0, width = 0] = x.shape;
    const [from, of] = [heap.pointer(row), heap.pointer(x)];
    const out = heap.output(x.shape, 'float32');
    const y = heap.pointer(out);
    runRows(pool, ADD_TO_ROWS, { x: of, y, rows, width }, (perTile) => [from, of, y, rows, width, perTile]);
    return out;
  }
}

const isRowOf = (row: TensorInfo, { shape }: TensorInfo): boolean =>
  shape.length === 2 && row.shape.length === 1 && row.shape[0] === shape[1];

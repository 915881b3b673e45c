/** Weights are copied to the heap in pieces: as one JavaScript array they would be in memory twice. */
import * as tf from '@tensorflow/tfjs-core';
import { isQuantised } from '../quantised.ts';
import { registerWeightMaker } from '../weights.ts';
import { tensorSize, type WasmRuntime } from './runtime.ts';

/** Numbers per piece: 16 MiB. */
const PIECE = 2 ** 22;

/** Registers the wasm backend's way to make a weight. It supports float32 only. */
export function registerWeights({ heap }: WasmRuntime): void {
  registerWeightMaker('wasm', (source, shape, precision) => {
    if (isQuantised(precision)) return null;
    const out = heap.output([...shape], 'float32');
    const size = tensorSize(out);
    for (let first = 0; first < size; first += PIECE) {
      const part = source.readPart(first, Math.min(PIECE, size - first));
      heap.f32(heap.pointer(out) + 4 * first, part.length).set(part);
    }
    return tf.engine().makeTensorFromTensorInfo(out);
  });
}

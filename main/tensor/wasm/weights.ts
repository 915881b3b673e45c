/** Weights are copied to the heap in pieces: as one JavaScript array they would be in memory twice. */
import * as tf from '@tensorflow/tfjs-core';
import { isQuantised } from '../quantised.ts';
import { bfloat16Bits, registerWeightMaker, type WeightSource } from '../weights.ts';
import type { Heap } from './heap.ts';
import { tensorSize, type WasmRuntime } from './runtime.ts';

/** Numbers per piece: 16 MiB of float32. Even, as two bfloat16 numbers share a word. */
const PIECE = 2 ** 22;

/** Registers the wasm backend's way to make a weight: matrices as float32 or bfloat16, vectors as float32. */
export function registerWeights({ heap }: WasmRuntime): void {
  registerWeightMaker('wasm', (source, shape, precision) => {
    if (isQuantised(precision)) return null;
    const write = precision === 'bfloat16' && shape.length === 2 ? writeHalves : writeFloats;
    return tf.engine().makeTensorFromTensorInfo(write(heap, source, shape));
  });
}

function writeFloats(heap: Heap, source: WeightSource, shape: readonly number[]): tf.TensorInfo {
  const out = heap.output(shape, 'float32');
  eachPiece(tensorSize(out), (first, count) => {
    heap.f32(heap.pointer(out) + 4 * first, count).set(source.readPart(first, count));
  });
  return out;
}

function writeHalves(heap: Heap, source: WeightSource, shape: readonly number[]): tf.TensorInfo {
  const out = heap.halfOutput(shape);
  eachPiece(tensorSize(out), (first, count) => {
    heap.u16(heap.matrix(out).at + 2 * first, count).set(bfloat16Bits(source, first, count));
  });
  return out;
}

function eachPiece(size: number, write: (first: number, count: number) => void): void {
  for (let first = 0; first < size; first += PIECE) write(first, Math.min(PIECE, size - first));
}

/**
 * The tfjs wasm backend's heap as our kernels see it: addresses of tensors, allocation that never fails silently, and
 * typed views. Everything is in one shared WebAssembly memory of at most 4 GiB.
 */
import type { BackendWasm } from '@tensorflow/tfjs-backend-wasm';
import type { DataType, TensorInfo } from '@tensorflow/tfjs-core';
import { BraidError } from '../../errors.ts';

/** Largest single block. Emscripten reads a larger request as a negative one, and may shrink the heap under its users. */
const BLOCK_LIMIT = 2 ** 31 - 2 ** 20;

/**
 * Blocks of at least a line of the cache begin with one: emscripten aligns to 16 bytes, and a vector of 32 that lies
 * across two lines is two accesses.
 */
export const CACHE_LINE = 64;

/** Addresses, allocation and views on the backend's memory. */
export interface Heap {
  readonly memory: WebAssembly.Memory;
  /** Byte address of a tensor's data. */
  pointer(info: TensorInfo): number;
  /** A new tensor with uninitialised data. */
  output(shape: readonly number[], dtype: DataType): TensorInfo;
  /** The same of bfloat16 numbers, which tfjs takes for a float32 tensor. Only `matrix` gives its address. */
  halfOutput(shape: readonly number[]): TensorInfo;
  /** Runs a kernel. Outputs that it made don't outlive a lack of memory: tfjs knows them only once it has returned. */
  allOrNone<T>(kernel: () => T): T;
  /** A matrix that may be bfloat16. */
  matrix(info: TensorInfo): HeapMatrix;
  /** Bytes of uninitialised memory, from `CACHE_LINE` on at the start of one. Throws OUT_OF_MEMORY. */
  malloc(bytes: number): number;
  free(address: number): void;
  /** A view of `length` floats. Take it after the last allocation before its use: a growing heap leaves old views short. */
  f32(address: number, length: number): Float32Array;
  /** A view of `length` integers; the same caveat applies. */
  i32(address: number, length: number): Int32Array;
  /** A view of `length` numbers of 16 bits; the same caveat applies. */
  u16(address: number, length: number): Uint16Array;
  /** Bytes that are allocated now, tensors and scratch together. */
  bytesInUse(): number;
}

/** Where a matrix is, and whether its numbers are bfloat16 instead of float32. */
export interface HeapMatrix {
  readonly at: number;
  readonly isHalf: boolean;
}

/** The part of the emscripten module that allocation goes through. */
export interface Allocator {
  _malloc(bytes: number): number;
  _free(address: number): void;
}

/**
 * Replaces the module's `_malloc` and `_free` with ones that align and count bytes and throw OUT_OF_MEMORY. The stock backend
 * treats the 0 of a failed allocation as an address, and its tensors then overwrite each other.
 */
export function guardAllocator(module: Allocator): () => number {
  // Emscripten's exports replace themselves on their first call, which would drop our wrappers.
  module._free(module._malloc(1));
  const malloc = module._malloc.bind(module);
  const free = module._free.bind(module);
  const blocks = new Map<number, { readonly start: number; readonly bytes: number }>();
  let inUse = 0;
  module._malloc = (bytes) => {
    const slack = bytes < CACHE_LINE ? 0 : CACHE_LINE;
    const start = bytes + slack > BLOCK_LIMIT ? 0 : malloc(bytes + slack) >>> 0;
    if (start === 0) throw outOfMemory(bytes, inUse);
    const address = slack === 0 ? start : Math.ceil(start / slack) * slack;
    blocks.set(address, { start, bytes });
    inUse += bytes;
    return address;
  };
  module._free = (address) => {
    // String tensors have no memory, and the stock backend frees their null.
    if (!address) return;
    const block = blocks.get(address);
    inUse -= block?.bytes ?? 0;
    blocks.delete(address);
    free(block?.start ?? address);
  };
  return () => inUse;
}

function outOfMemory(needed: number, inUse: number): BraidError {
  const inMiB = (bytes: number) => `${Math.ceil(bytes / 1048576)} MiB`;
  return new BraidError(
    'OUT_OF_MEMORY',
    `The wasm backend needed ${needed} bytes (${inMiB(needed)}) with ${inUse} bytes (${inMiB(inUse)}) in use; its heap holds at most 4096 MiB, one tensor 2047 MiB`,
    {
      remedy:
        'Lower per_device_train_batch_size, num_generations or max_completion_length, turn on gradient checkpointing, or use a smaller model or the native backend.',
    },
  );
}

/** The heap of a backend whose module went through `guardAllocator`. */
export function openHeap(
  backend: BackendWasm,
  module: Allocator,
  memory: WebAssembly.Memory,
  bytesInUse: () => number,
): Heap {
  const halves = new WeakSet<object>();
  const address = (info: TensorInfo): number => backend.dataIdMap.get(info.dataId).memoryOffset;
  /** Outputs of the kernel at work; null: none is. */
  let made: TensorInfo[] | null = null;
  return {
    memory,
    pointer(info) {
      if (halves.has(info.dataId)) throw new TypeError('A kernel of the wasm backend takes no bfloat16 weights');
      return address(info);
    },
    output(shape, dtype) {
      const out = backend.makeOutput([...shape], dtype);
      made?.push(out);
      return out;
    },
    allOrNone(kernel) {
      const outer = made;
      const own: TensorInfo[] = [];
      made = own;
      try {
        return kernel();
      } catch (error) {
        for (const { dataId } of own) backend.disposeData(dataId);
        throw error;
      } finally {
        made = outer;
      }
    },
    halfOutput(shape) {
      const size = shape.reduce((product, length) => product * length, 1);
      // Two of them to a word.
      const { dataId } = backend.makeOutput([Math.ceil(size / 2)], 'int32');
      halves.add(dataId);
      // Kernels of tfjs would read them as float32, and beyond their end: unknown to its module, they are an error.
      backend.wasm.tfjs.disposeData(backend.dataIdMap.get(dataId).id);
      return { dataId, shape: [...shape], dtype: 'float32' };
    },
    matrix: (info) => ({ at: address(info), isHalf: halves.has(info.dataId) }),
    malloc: (bytes) => module._malloc(bytes),
    free: (address) => module._free(address),
    f32: (address, length) => new Float32Array(memory.buffer, address, length),
    i32: (address, length) => new Int32Array(memory.buffer, address, length),
    u16: (address, length) => new Uint16Array(memory.buffer, address, length),
    bytesInUse,
  };
}

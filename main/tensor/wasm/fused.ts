/** What the fused kernels share: their registration, checked access to inputs and attributes, tables on the heap. */
import type { NamedAttrMap, NamedTensorInfoMap, TensorInfo } from '@tensorflow/tfjs-core';
import type { Heap, HeapMatrix } from './heap.ts';
import type { Pool } from './pool.ts';
import { registerWasmKernel, type WasmRuntime } from './runtime.ts';

/** Elements below which waking the workers costs more than it saves. */
export const serialElements = 16384;

/** The inputs and attributes of one kernel call; reading one that is missing or of the wrong kind throws. */
export interface FusedCall {
  /** Address of an input. */
  pointer(name: string): number;
  /** Where an input is that may be bfloat16. */
  matrix(name: string): HeapMatrix;
  /** An input's shape. */
  shape(name: string): readonly number[];
  /** Whether an optional input was given. */
  has(name: string): boolean;
  number(name: string): number;
  flag(name: string): boolean;
  /** Throws unless the named input has this shape. */
  expectShape(name: string, shape: readonly number[]): void;
}

/** Registers one fused kernel for backend 'wasm'. */
export function registerFused(
  runtime: WasmRuntime,
  kernelName: string,
  run: (runtime: WasmRuntime, call: FusedCall) => TensorInfo | TensorInfo[],
): void {
  registerWasmKernel(kernelName, ({ inputs, attrs }) =>
    runtime.heap.allOrNone(() => run(runtime, fusedCall(runtime.heap, kernelName, inputs, attrs ?? {}))),
  );
}

function fusedCall(heap: Heap, kernel: string, inputs: NamedTensorInfoMap, attrs: NamedAttrMap): FusedCall {
  function input(name: string): TensorInfo {
    const info = inputs[name];
    if (!info) throw new RangeError(`Expected ${kernel} to get an input "${name}"`);
    return info;
  }
  function attribute<T>(name: string, type: string): T {
    const value: unknown = attrs[name];
    if (typeof value !== type) throw new RangeError(`Expected ${kernel}'s "${name}" to be a ${type}, got ${value}`);
    return value as T;
  }
  return {
    pointer: (name) => heap.pointer(input(name)),
    matrix: (name) => heap.matrix(input(name)),
    shape: (name) => input(name).shape,
    has: (name) => inputs[name] !== undefined,
    number: (name) => attribute<number>(name, 'number'),
    flag: (name) => attribute<boolean>(name, 'boolean'),
    expectShape(name, shape) {
      const got = input(name).shape;
      if (got.length === shape.length && got.every((size, axis) => size === shape[axis])) return;
      throw new RangeError(`Expected ${kernel}'s "${name}" to be [${shape.join(', ')}], got [${got.join(', ')}]`);
    },
  };
}

/** The sizes of a matrix input. */
export function matrixShape(call: FusedCall, name: string): readonly [rows: number, columns: number] {
  const [rows = 0, columns = 0] = call.shape(name);
  call.expectShape(name, [rows, columns]);
  return [rows, columns];
}

/** The rows that a kernel treats one by one, x [rows, width] → y, at the level of addresses. */
export interface RowsAt {
  readonly x: number;
  readonly y: number;
  readonly rows: number;
  readonly width: number;
  /** Rows a tile, where waking the workers costs nothing, as in a list of jobs. */
  readonly perTile?: number;
}

/** Runs a kernel over rows; `argsOf` gives its arguments for so many rows a tile. */
export function runRows(
  pool: Pool,
  kernel: number,
  { rows, width, perTile }: RowsAt,
  argsOf: (perTile: number) => readonly number[],
): void {
  const each = perTile ?? rowsPerTile(width);
  const parallel = perTile !== undefined || rows * width > serialElements;
  pool.run(kernel, argsOf(each), Math.ceil(rows / each), parallel);
}

/** Rows per tile, so that a tile moves about 16 thousand elements. */
export function rowsPerTile(width: number): number {
  return Math.max(1, Math.ceil(16384 / Math.max(1, width)));
}

/** Runs `use` with scratch of `bytes` on the heap, freed afterwards. */
export function withScratch<T>(heap: Heap, bytes: number, use: (address: number) => T): T {
  const address = heap.malloc(Math.max(16, bytes));
  try {
    return use(address);
  } finally {
    heap.free(address);
  }
}

/** Runs `use` with tables of integers on the heap, freed afterwards; it gets each table's address. */
export function withTables<T>(
  heap: Heap,
  tables: readonly (readonly number[])[],
  use: (addresses: readonly number[]) => T,
): T {
  const length = tables.reduce((sum, table) => sum + table.length, 0);
  return withScratch(heap, length * 4, (base) => {
    const words = heap.i32(base, length);
    let at = 0;
    const addresses = tables.map((table) => {
      words.set(table, at);
      at += table.length;
      return base + (at - table.length) * 4;
    });
    return use(addresses);
  });
}

import { afterEach, describe, expect, it } from 'vitest';
import { ADD_IN_PLACE, FLAT_TILE, MAX_ARGS } from '../../../main/tensor/kernels/ids.ts';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { openForTest } from './open.ts';

let runtime: WasmRuntime;
afterEach(() => closeWasmBackend(runtime));

/** target += 1 over `tiles` tiles, `times` times; returns how often each element was visited. */
function countVisits(tiles: number, times: number): Set<number> {
  const { heap, pool } = runtime;
  const size = tiles * FLAT_TILE;
  const [target, ones] = [heap.malloc(4 * size), heap.malloc(4 * size)];
  heap.f32(target, size).fill(0);
  heap.f32(ones, size).fill(1);
  for (let i = 0; i < times; i++) pool.run(ADD_IN_PLACE, [target, ones, size, 1], tiles);
  const visits = new Set(heap.f32(target, size));
  heap.free(target);
  heap.free(ones);
  return visits;
}

describe('pool.run', () => {
  for (const threads of [1, 2, 3, 5]) {
    it(`runs every tile exactly once on ${threads} threads`, async () => {
      runtime = await openForTest(threads);
      for (const tiles of [1, 2, 3, 16]) expect(countVisits(tiles, 50)).toEqual(new Set([50]));
    });
  }

  it('runs jobs of changing size back to back, and after the workers fell asleep', async () => {
    runtime = await openForTest(3);
    const { heap, pool } = runtime;
    const size = 8 * FLAT_TILE;
    const [x, out] = [heap.malloc(4 * size), heap.malloc(4 * size)];
    for (let round = 0; round < 300; round++) {
      const length = 1 + ((round * 7919) % size);
      heap.f32(x, size).fill(round);
      heap.f32(out, size).fill(1);
      pool.run(ADD_IN_PLACE, [out, x, length, 1], Math.ceil(length / FLAT_TILE));
      const values = heap.f32(out, size);
      expect(values.subarray(0, length).every((value) => value === round + 1)).toBe(true);
      expect(values.subarray(length).every((value) => value === 1)).toBe(true);
      if (round % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });

  it('rejects more arguments than the control block holds', async () => {
    runtime = await openForTest(1);
    expect(() => runtime.pool.run(ADD_IN_PLACE, new Array<number>(MAX_ARGS + 1).fill(0), 1)).toThrow(/at most/);
  });

  it('reports a kernel that crashes, on any thread', async () => {
    runtime = await openForTest(2);
    const beyond = runtime.heap.memory.buffer.byteLength;
    expect(() => runtime.pool.run(ADD_IN_PLACE, [beyond, beyond, 64 * FLAT_TILE, 1], 64)).toThrow();
    expect(() => runtime.pool.run(ADD_IN_PLACE, [0, 0, 0, 1], 2)).toThrow(/crashed/);
  });
});

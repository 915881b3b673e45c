import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ADD_IN_PLACE, FLAT_TILE } from '../../../main/tensor/kernels/ids.ts';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import { recordJobs } from '../../../main/tensor/wasm/job-list.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { openForTest } from './open.ts';

const SIZE = 3 * FLAT_TILE + 5;
const TILES = 4;
const none = () => [];

describe.each([1, 2, 3])('a list of jobs on %i threads', (threads) => {
  let runtime: WasmRuntime;
  beforeEach(async () => {
    runtime = await openForTest(threads);
  });
  afterEach(() => closeWasmBackend(runtime));

  /** A tensor's memory, filled with one number. */
  function filled(value: number): number {
    const at = runtime.heap.malloc(4 * SIZE);
    runtime.heap.f32(at, SIZE).fill(value);
    return at;
  }

  const values = (at: number): Set<number> => new Set(runtime.heap.f32(at, SIZE));
  const add = (on: WasmRuntime, target: number, x: number, scale = 1): void =>
    on.pool.run(ADD_IN_PLACE, [target, x, SIZE, scale], TILES);

  it('runs its jobs in order, whenever it is run, and leaves single jobs as they were', () => {
    const [a, b, one] = [filled(0), filled(0), filled(1)];
    const { jobs } = recordJobs(runtime, ({ runtime: on, op }) => {
      op(none, () => add(on, a, one));
      op(none, () => add(on, b, a, 2));
    });
    expect([values(a), values(b)]).toEqual([new Set([0]), new Set([0])]);
    for (let i = 0; i < 3; i++) jobs.run();
    // b = 2·1 + 2·2 + 2·3
    expect([values(a), values(b)]).toEqual([new Set([3]), new Set([12])]);
    add(runtime, a, one, 10);
    expect(values(a)).toEqual(new Set([13]));
    jobs.free();
  });

  it('runs parts side by side, also of unequal numbers of jobs and none', () => {
    const targets = Array.from({ length: 4 }, () => filled(0));
    const one = filled(1);
    const { jobs } = recordJobs(runtime, ({ runtime: on, op, begin }) => {
      begin();
      op(
        none,
        ...targets.map((target, i) => () => {
          for (let k = 0; k < i; k++) add(on, target, one, 10 ** k);
        }),
      );
      op(none, () => undefined);
    });
    jobs.run();
    expect(targets.map(values)).toEqual([0, 1, 11, 111].map((sum) => new Set([sum])));
    jobs.free();
  });

  it('gives scratch to later ops again, never to parts of the same op, and frees it all', () => {
    const before = runtime.heap.bytesInUse();
    const taken: number[][] = [];
    const { jobs, recorded } = recordJobs(runtime, ({ runtime: { heap }, keep, op }) => {
      const part = (list: number[]) => () => {
        const block = heap.malloc(1000);
        list.push(block);
        heap.free(block);
      };
      for (let i = 0; i < 2; i++) {
        const list: number[] = [];
        op(none, part(list), part(list));
        taken.push(list);
      }
      return keep(100);
    });
    expect(new Set(taken[0]).size).toBe(2);
    expect(new Set(taken[1])).toEqual(new Set(taken[0]));
    expect(taken.flat()).not.toContain(recorded);
    jobs.free();
    jobs.free();
    expect(runtime.heap.bytesInUse()).toBe(before);
  });

  it('frees what it took when recording fails, and refuses too many parts', () => {
    const before = runtime.heap.bytesInUse();
    expect(() =>
      recordJobs(runtime, ({ runtime: { heap }, keep }) => {
        keep(100);
        heap.malloc(100);
        throw new Error('stopped');
      }),
    ).toThrow('stopped');
    expect(() =>
      recordJobs(runtime, ({ runtime: on, op }) => op(none, ...Array.from({ length: 27 }, () => () => add(on, 0, 0)))),
    ).toThrow('at most 26');
    expect(runtime.heap.bytesInUse()).toBe(before);
  });

  it('says which kernel crashed', () => {
    const beyond = runtime.heap.memory.buffer.byteLength;
    const { jobs } = recordJobs(runtime, ({ runtime: on, op }) =>
      op(none, () => on.pool.run(ADD_IN_PLACE, [beyond, beyond, 64 * FLAT_TILE, 1], 64)),
    );
    expect(() => jobs.run()).toThrow();
    expect(() => jobs.run()).toThrow(threads === 1 ? /crashed/ : `Kernel ${ADD_IN_PLACE} crashed`);
  });
});

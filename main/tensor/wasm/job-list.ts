/**
 * Jobs that are laid out in the heap once and run many times: hardly any JavaScript runs between them, so workers don't
 * wait for it. They are recorded by giving kernels a runtime whose pool notes jobs instead of running them.
 */
import { pulse } from '../../pulse.ts';
import { isProfiling, profiled } from '../kernel-profile.ts';
import {
  JOB_ARGS,
  JOB_KERNEL,
  JOB_PARALLEL,
  JOB_PARAMETERS,
  JOB_TILES,
  MAX_ARGS,
  SIDE_BY_SIDE,
} from '../kernels/ids.ts';
import type { KernelWork } from '../op-costs.ts';
import type { Heap } from './heap.ts';
import type { WasmRuntime } from './runtime.ts';

export interface JobList {
  run(): void;
  /** Frees the list and all memory that was taken while it was recorded. */
  free(): void;
}

export interface JobRecorder {
  /**
   * Kernels with this runtime are recorded, so all that they write must be written by jobs. What they allocate and free is
   * scratch, which later jobs use again.
   */
  readonly runtime: WasmRuntime;
  /** Memory that stays as it is until the list is freed. */
  keep(bytes: number): number;
  /**
   * Records parts of which none reads what another writes, so that their jobs run side by side. `works` describes them
   * to a profile.
   */
  op(works: () => readonly KernelWork[], ...parts: readonly (() => void)[]): void;
  /** Begins a part of the list that may take long: a sign of life is given before it. */
  begin(): void;
}

interface Job {
  readonly kernel: number;
  readonly args: readonly number[];
  readonly tiles: number;
  readonly parallel: boolean;
}

/** An op's jobs, and how a profile knows it. */
interface Op {
  readonly works: () => readonly KernelWork[];
  readonly jobs: readonly Job[];
  /** Whether a sign of life is given before. */
  readonly isFirst: boolean;
}

/** Jobs that three parameters each fit into one. */
const MOST_SIDE_BY_SIDE = Math.floor((MAX_ARGS - 1) / 3);

/** Records the ops of `record` and lays them out. What was taken before an error is freed. */
export function recordJobs<T>(
  runtime: WasmRuntime,
  record: (recorder: JobRecorder) => T,
): { readonly jobs: JobList; readonly recorded: T } {
  const scratch = openScratch(runtime.heap);
  const ops: Op[] = [];
  let jobs: Job[] = [];
  let isFirst = true;
  const run = (kernel: number, args: readonly number[], tiles: number, parallel = true): void => {
    jobs.push({ kernel, args, tiles, parallel: parallel && tiles > 1 && runtime.threads > 1 });
  };
  const recording = { ...runtime, heap: scratch.heap, pool: { ...runtime.pool, run } };
  const op = (works: () => readonly KernelWork[], ...parts: readonly (() => void)[]): void => {
    const each = parts.map((part) => {
      jobs = [];
      part();
      return jobs;
    });
    scratch.reuse();
    ops.push({ works, jobs: sideBySide(each), isFirst });
    isFirst = false;
  };
  try {
    const begin = (): void => {
      isFirst = true;
    };
    const recorded = record({ runtime: recording, keep: scratch.keep, op, begin });
    return { jobs: layOut(runtime, ops, scratch), recorded };
  } catch (error) {
    scratch.freeAll();
    throw error;
  }

  /** The first jobs of all parts as one, then the second ones …: each part's stay in their order. */
  function sideBySide(parts: readonly (readonly Job[])[]): readonly Job[] {
    const most = Math.max(...parts.map(({ length }) => length));
    return Array.from({ length: most }, (_, i) => joined(parts.flatMap((part) => part[i] ?? [])));
  }

  function joined(members: readonly Job[]): Job {
    const [only] = members;
    if (only !== undefined && members.length === 1) return only;
    if (members.length > MOST_SIDE_BY_SIDE)
      throw new RangeError(`Expected at most ${MOST_SIDE_BY_SIDE} jobs side by side, got ${members.length}`);
    const args = members.flatMap(({ kernel, args, tiles }) => {
      const at = scratch.keep(8 * args.length);
      writeArgs(runtime.heap, at, args);
      return [kernel, tiles, at];
    });
    const tiles = members.reduce((sum, job) => sum + job.tiles, 0);
    const parallel = members.some((job) => job.parallel);
    return { kernel: SIDE_BY_SIDE, args: [members.length, ...args], tiles, parallel };
  }
}

/** Writes the jobs one after the other, and puts together what runs without a sign of life. */
function layOut({ heap, pool }: WasmRuntime, ops: readonly Op[], scratch: Scratch): JobList {
  const bytesOf = ({ args }: Job): number => JOB_ARGS + 8 * args.length;
  const all = ops.flatMap(({ jobs }) => jobs);
  const start = scratch.keep(all.reduce((sum, job) => sum + bytesOf(job), 0));
  let at = start;
  const placed = ops.map((op) => {
    const first = at;
    for (const job of op.jobs) {
      writeJob(heap, at, job);
      at += bytesOf(job);
    }
    return { ...op, first, count: op.jobs.length };
  });
  const parts: { readonly first: number; count: number }[] = [];
  for (const { first, count, isFirst } of placed) {
    const part = parts.at(-1);
    if (isFirst || part === undefined) parts.push({ first, count });
    else part.count += count;
  }
  return {
    run: () => {
      if (isProfiling()) {
        for (const { works, first, count, isFirst } of placed) {
          if (isFirst) pulse();
          profiled(works, () => pool.runList(first, count));
        }
        return;
      }
      for (const { first, count } of parts) {
        pulse();
        pool.runList(first, count);
      }
    },
    free: scratch.freeAll,
  };
}

function writeJob(heap: Heap, at: number, { kernel, tiles, parallel, args }: Job): void {
  const words = heap.i32(at, JOB_ARGS / 4);
  words[JOB_KERNEL / 4] = kernel;
  words[JOB_TILES / 4] = tiles;
  words[JOB_PARALLEL / 4] = parallel ? 1 : 0;
  words[JOB_PARAMETERS / 4] = args.length;
  writeArgs(heap, at + JOB_ARGS, args);
}

function writeArgs({ memory }: Heap, at: number, args: readonly number[]): void {
  new Float64Array(memory.buffer, at, args.length).set(args);
}

interface Scratch {
  /** The heap as kernels see it while they are recorded. */
  readonly heap: Heap;
  keep(bytes: number): number;
  /** Blocks that were freed may be given out again; until then they aren't, as jobs that run side by side may use them. */
  reuse(): void;
  freeAll(): void;
}

function openScratch(heap: Heap): Scratch {
  const kept: number[] = [];
  const sizes = new Map<number, number>();
  let free: number[] = [];
  let freed: number[] = [];
  const malloc = (bytes: number): number => {
    const fitting = free.filter((block) => (sizes.get(block) ?? 0) >= bytes);
    const smallest = fitting.sort((a, b) => (sizes.get(a) ?? 0) - (sizes.get(b) ?? 0))[0];
    if (smallest !== undefined) {
      free = free.filter((block) => block !== smallest);
      return smallest;
    }
    const block = heap.malloc(bytes);
    sizes.set(block, bytes);
    return block;
  };
  return {
    heap: { ...heap, malloc, free: (block) => void freed.push(block) },
    keep: (bytes) => {
      const block = heap.malloc(Math.max(16, bytes));
      kept.push(block);
      return block;
    },
    reuse: () => {
      free.push(...freed);
      freed = [];
    },
    freeAll: () => {
      for (const block of [...kept.splice(0), ...sizes.keys()]) heap.free(block);
      sizes.clear();
    },
  };
}

/**
 * Runs kernels on the main thread and on worker threads. The job loop itself is in kernels/assembly/index.ts; this file
 * owns the shared control block, each thread's scratch, and the workers.
 */
import { BraidError } from '../../errors.ts';
import {
  CONTROL_ARGS,
  CONTROL_ARGS_AT,
  CONTROL_BYTES,
  CONTROL_CLOSING,
  CONTROL_CONTENDED,
  CONTROL_EPOCH,
  CONTROL_FAILED,
  CONTROL_KERNEL,
  CONTROL_REMAINING,
  MAX_ARGS,
  SCRATCH_BYTES,
} from '../kernels/ids.ts';
import { watchContention } from './contention.ts';
import type { Heap } from './heap.ts';
import { startWorker } from './worker.ts';

declare global {
  /** Of ECMAScript 2026, which TypeScript doesn't know yet, nor Node 22. */
  interface Atomics {
    /** In a loop that waits: leaves the core to what shares it for a moment. */
    readonly pause?: () => void;
  }
}

/** Threads that share the tiles of one kernel call; one call runs at a time. */
export interface Pool {
  readonly threads: number;
  /**
   * Runs the tiles 0 … tiles-1 of a kernel and returns when all are done. `parallel: false` keeps a job on the main
   * thread, which is faster for work below about ten microseconds.
   */
  run(kernel: number, args: readonly number[], tiles: number, parallel?: boolean): void;
  /** Runs `count` jobs that lie one after the other at an address (see job-list.ts). */
  runList(address: number, count: number): void;
  /** Ends the workers and frees the pool's memory. */
  close(): Promise<void>;
}

/** The exports of the kernel module that the main thread calls. */
interface KernelExports {
  runSerial(kernel: number, tiles: number, control: number, scratch: number): void;
  runParallel(kernel: number, tiles: number, control: number, scratch: number): number;
  runList(list: number, count: number, control: number, scratch: number): number;
}

/** Starts `threads - 1` workers on the heap's memory. */
export async function openPool(heap: Heap, module: WebAssembly.Module, threads: number): Promise<Pool> {
  const { memory } = heap;
  const blocks = [CONTROL_BYTES, ...Array<number>(threads).fill(SCRATCH_BYTES)].map((bytes) => heap.malloc(bytes));
  const [control = 0, scratch = 0, ...workerScratch] = blocks;
  // Memory only grows, and shared memory keeps old views valid, so these two need no refreshing.
  const words = new Int32Array(memory.buffer, control, CONTROL_BYTES / 4).fill(0);
  words[CONTROL_ARGS_AT / 4] = control + CONTROL_ARGS;
  const parameters = new Float64Array(memory.buffer, control + CONTROL_ARGS, MAX_ARGS);
  const { exports } = new WebAssembly.Instance(module, { env: { memory, pause: Atomics.pause ?? (() => undefined) } });
  const kernels = exports as unknown as KernelExports;
  const started = await Promise.allSettled(
    workerScratch.map((address) => startWorker({ module, memory, control, scratch: address })),
  );
  const workers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const failed = started.find((one) => one.status === 'rejected');
  if (failed !== undefined) {
    // The others would wait for jobs for ever, on this heap.
    await Promise.all(workers.map((worker) => worker.terminate()));
    throw failed.reason;
  }

  const isContended = watchContention();

  function run(kernel: number, args: readonly number[], tiles: number, parallel = true): void {
    if (args.length > MAX_ARGS)
      throw new RangeError(`Expected at most ${MAX_ARGS} kernel arguments, got ${args.length}`);
    guarded(kernel, () => {
      parameters.set(args);
      if (parallel && tiles >= 2 && threads > 1) return kernels.runParallel(kernel, tiles, control, scratch);
      kernels.runSerial(kernel, tiles, control, scratch);
      return 1;
    });
  }

  function runList(address: number, count: number): void {
    guarded(null, () => kernels.runList(address, count, control, scratch));
  }

  /** Runs a job, or those of a list (null). `work` returns 0 where a worker failed. */
  function guarded(job: number | null, work: () => number): void {
    const failed = (): BraidError => kernelFailed(job ?? (words[CONTROL_KERNEL / 4] as number));
    if (words[CONTROL_FAILED / 4] !== 0) throw failed();
    Atomics.store(words, CONTROL_CONTENDED / 4, isContended() ? 1 : 0);
    try {
      if (work() === 0) throw failed();
    } catch (error) {
      // Workers may still hold tiles of the failed job, so this pool must not run another.
      Atomics.store(words, CONTROL_REMAINING / 4, 0);
      Atomics.store(words, CONTROL_FAILED / 4, 1);
      throw error;
    }
  }

  async function close(): Promise<void> {
    Atomics.store(words, CONTROL_CLOSING / 4, 1);
    Atomics.add(words, CONTROL_EPOCH / 4, 1);
    Atomics.notify(words, CONTROL_EPOCH / 4);
    await Promise.all(workers.map((worker) => worker.terminate()));
    for (const block of blocks) heap.free(block);
  }

  return { threads, run, runList, close };
}

function kernelFailed(kernel: number): BraidError {
  return new BraidError('KERNEL_FAILED', `Kernel ${kernel} crashed on a worker thread`, {
    remedy: 'Resume the run from its last checkpoint, and report this with the run’s log.',
  });
}

/**
 * The pool's worker threads. Their program is a string, so that no bundler or archive has to keep a file for it.
 */
import { Worker } from 'node:worker_threads';
import type { BraidError } from '../../errors.ts';
import { didNotStart } from '../../io/start-thread.ts';
import { CONTROL_DONE, CONTROL_FAILED } from '../kernels/ids.ts';

/** A worker's input: the shared kernel module and memory, the pool's control block, its own scratch. */
export interface WorkerTask {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly control: number;
  readonly scratch: number;
}

// `work` returns only when the pool closes. A trap is flagged, so that the main thread doesn't wait for the lost tile.
const program = `
const { workerData: { module, memory, control, scratch } } = require('node:worker_threads');
const words = new Int32Array(memory.buffer);
try {
  new WebAssembly.Instance(module, { env: { memory, pause: Atomics.pause ?? (() => undefined) } }).exports.work(control, scratch);
} catch (error) {
  Atomics.store(words, (control + ${CONTROL_FAILED}) / 4, 1);
  Atomics.notify(words, (control + ${CONTROL_DONE}) / 4);
  throw error;
}`;

/** Starts a worker; resolves when its thread runs. It neither keeps the process alive nor outlives it. */
export async function startWorker(task: WorkerTask): Promise<Worker> {
  const worker = newWorker(task);
  // The main thread learns of a fault from the control block; without a listener it would also crash the process.
  worker.on('error', () => undefined);
  await new Promise((resolve, reject) => {
    worker.once('online', resolve).once('error', (error) => reject(notStarted(error.message)));
    worker.once('exit', (code) => reject(notStarted(`it ended with code ${code}`)));
  });
  worker.unref();
  return worker;
}

function newWorker(task: WorkerTask): Worker {
  try {
    return new Worker(program, { eval: true, workerData: task, name: 'braid-kernels' });
  } catch (error) {
    throw notStarted((error as Error).message);
  }
}

function notStarted(why: string): BraidError {
  return didNotStart('KERNEL_THREAD', 'A thread of the wasm backend', why);
}

/**
 * Threads that say why they can't start, or have ended: at once, and also to a thread that waits for them without an
 * event loop, which the events of a Worker never reach.
 */
import { pathToFileURL } from 'node:url';
import {
  MessageChannel,
  receiveMessageOnPort,
  type Transferable,
  Worker,
  type WorkerOptions,
} from 'node:worker_threads';
import { BraidError } from '../errors.ts';
import { startRemedy } from './start-reason.ts';

/** A file that is missing or that can't run, or one that it imports, fails before any line of it: this runs first. */
const LOADER = `
const { start } = require('node:worker_threads').workerData;
const report = (why) => {
  start.port.postMessage(why);
  Atomics.add(start.wake, 0, 1);
  Atomics.notify(start.wake, 0);
};
let isReported = false;
const end = (error) => {
  isReported = true;
  report(error instanceof Error ? (error.code === undefined ? error.name + ': ' + error.message : error.message) : String(error));
  process.exit(1);
};
process.on('uncaughtException', end);
process.on('exit', (code) => isReported || report('it ended by itself, with code ' + code));
import(start.entry).catch(end);
`;

/** A thread that waits for this one sleeps on its first number, which grows by one when the thread has failed. */
export type Wake = Int32Array<SharedArrayBuffer>;

export interface StartedThread {
  /** Why the thread can't start, or has ended of itself; null: it lives, as far as is known. */
  fault(): string | null;
  end(): Promise<void>;
}

/** Starts a thread of a file. It neither keeps the process alive nor ends it by an error. */
export function startThread(
  entry: string,
  wake: Wake,
  { workerData, ...options }: WorkerOptions & { readonly workerData: object },
): StartedThread {
  const { port1: port, port2: theirs } = new MessageChannel();
  port.unref();
  let fault: string | null = null;
  let worker: Worker | null = null;
  try {
    worker = new Worker(LOADER, {
      ...options,
      eval: true,
      workerData: { ...workerData, start: { entry: pathToFileURL(entry).href, port: theirs, wake } },
      transferList: [...(options.transferList ?? []), theirs] as Transferable[],
    });
    worker.on('error', (error) => {
      fault ??= error.message;
    });
    worker.unref();
  } catch (error) {
    // The system has no room for another thread.
    fault = error instanceof Error ? error.message : String(error);
  }
  return {
    fault: () => {
      fault ??= (receiveMessageOnPort(port) as { readonly message: string } | undefined)?.message ?? null;
      return fault;
    },
    end: async () => {
      port.close();
      await worker?.terminate();
    },
  };
}

/** The error for a thread that didn't get as far as its first message; null: it was silent. */
export function didNotStart(code: string, thread: string, fault: string | null, cause?: Error): BraidError {
  const why = fault ?? 'it gave no sign of life';
  const remedy = fault === null ? 'Close other programs and try again.' : startRemedy(why);
  return new BraidError(code, `${thread} can't start: ${why}`, {
    remedy: remedy ?? 'The doctor in Settings checks what it needs.',
    ...(cause !== undefined && { cause }),
  });
}

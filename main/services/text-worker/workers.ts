/**
 * Threads for heavy work on texts, so that a large import or dataset never blocks the host and its runs. One thread is
 * kept for the next task; concurrent tasks get their own threads.
 */
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { BraidError } from '../../errors.ts';
import { didNotStart } from '../../io/start-thread.ts';
import type { JobProgress } from '../trainer-process/job.ts';
import type { TaskFailure, TaskMessage, TaskReply } from './messages.ts';
import type { TaskInput, TaskName, TaskOutput } from './worker-tasks.ts';

export interface TaskOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: JobProgress) => void) | undefined;
  /** Buffers of the input to transfer instead of copying: copying 50 MB would block the host. */
  readonly transfer?: readonly ArrayBuffer[] | undefined;
}

export interface TextWorkers {
  /** Runs a task; a cancelled one fails with the code CANCELLED. */
  run<N extends TaskName>(name: N, input: TaskInput<N>, options?: TaskOptions): Promise<TaskOutput<N>>;
  close(): Promise<void>;
}

/** Tasks that write files notice a cancellation and end cleanly; the others are terminated at once. */
const WRITING: ReadonlySet<TaskName> = new Set<TaskName>([
  'writeDatasets',
  'importReplies',
  'splitReplyRecords',
  'writeTrialRecords',
  'writeImport',
]);

/** Opens the pool, without threads yet; `entry` is worker.ts or its build. */
export function openTextWorkers(entry: string, resourceLimits: ResourceLimits = {}): TextWorkers {
  let idle: Worker | null = null;
  const all = new Set<Worker>();

  function start(): Worker {
    const worker = newWorker(entry, resourceLimits);
    all.add(worker);
    // One that fails while it is idle has no task to report it: without a listener it would end the host.
    worker.on('error', () => {
      if (idle === worker) idle = null;
    });
    worker.once('exit', () => {
      all.delete(worker);
      if (idle === worker) idle = null;
    });
    return worker;
  }

  function returnWorker(worker: Worker): void {
    if (idle !== null || !all.has(worker)) return void worker.terminate();
    // An idle thread must not keep the process alive.
    worker.unref();
    idle = worker;
  }

  return {
    run: async <N extends TaskName>(
      name: N,
      input: TaskInput<N>,
      { signal, onProgress, transfer }: TaskOptions = {},
    ) => {
      if (isCancelled(signal)) throw cancelled();
      const worker = idle ?? start();
      idle = null;
      worker.ref();
      try {
        // The thread answers with the result type of the task of that name.
        return (await ask(worker, { name, input }, { signal, onProgress, transfer })) as TaskOutput<N>;
      } finally {
        // A terminating thread still accepts messages for a while, and would die during the next task.
        if (isCancelled(signal) && !WRITING.has(name)) void worker.terminate();
        else returnWorker(worker);
      }
    },
    close: async () => {
      await Promise.all([...all].map((worker) => worker.terminate()));
    },
  };
}

function newWorker(entry: string, resourceLimits: ResourceLimits): Worker {
  try {
    return new Worker(entry, { resourceLimits });
  } catch (error) {
    // The system has no room for another thread.
    throw didNotStart('TEXT_WORK_START', THREAD, (error as Error).message);
  }
}

const THREAD = 'The thread for work on texts';
/** Those that have got as far as their first message. */
const ready = new WeakSet<Worker>();

function ask(
  worker: Worker,
  { name, input }: { readonly name: TaskName; readonly input: unknown },
  { signal, onProgress, transfer = [] }: TaskOptions,
): Promise<unknown> {
  const cancel = new Int32Array(new SharedArrayBuffer(4));
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      Atomics.store(cancel, 0, 1);
      // Its result may already be on the way: the caller still gets the cancellation.
      if (!WRITING.has(name)) settle(() => reject(cancelled()));
    };
    const settle = (end: () => void): void => {
      signal?.removeEventListener('abort', abort);
      worker.removeAllListeners('message');
      worker.removeListener('error', failed);
      worker.removeListener('exit', gone);
      end();
    };
    let fault: Error | undefined;
    const failed = (error: Error): void => {
      fault = error;
    };
    // An error overtakes the thread's messages, its end doesn't: only here is it known how far it got.
    const ended = (why: string): BraidError =>
      ready.has(worker) ? died(why, fault) : didNotStart('TEXT_WORK_START', THREAD, why, fault);
    const gone = (): void =>
      settle(() =>
        reject(isCancelled(signal) && fault === undefined ? cancelled() : ended(fault?.message ?? 'it ended')),
      );
    signal?.addEventListener('abort', abort);
    worker.on('message', (reply: TaskReply) => {
      if (reply.kind === 'ready') ready.add(worker);
      else if (reply.kind === 'progress') onProgress?.(reply.progress);
      else if (reply.kind === 'result') settle(() => resolve(reply.value));
      else settle(() => reject(asError(reply.failure)));
    });
    worker.once('error', failed);
    worker.once('exit', gone);
    worker.postMessage({ name, input, cancel } satisfies TaskMessage, [...transfer]);
  });
}

// A function, because type narrowing would not see that a signal changes while waiting.
function isCancelled(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** The error for a cancelled task. */
export function cancelled(): BraidError {
  return new BraidError('CANCELLED', 'Cancelled; stored data is unchanged', { kind: 'input' });
}

function died(why: string, cause?: unknown): BraidError {
  return new BraidError('TEXT_WORK_DIED', `The text worker crashed: ${why}; stored data is unchanged`, {
    remedy: 'Try again with fewer or smaller texts.',
    ...(cause !== undefined && { cause }),
  });
}

function asError({ code, message, remedy, input }: TaskFailure): BraidError {
  return new BraidError(code, message, { kind: input ? 'input' : 'runtime', ...(remedy !== null && { remedy }) });
}

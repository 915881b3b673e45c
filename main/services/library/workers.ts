/**
 * Threads for the heavy work on texts, so that a large import or a dataset never holds up the runs that the host
 * serves. One thread is kept for the next task; tasks at the same time get threads of their own.
 */
import { Worker } from 'node:worker_threads';
import { BraidError } from '../../errors.ts';
import type { JobProgress } from '../trainer-job.ts';
import type { TaskFailure, TaskMessage, TaskReply } from './messages.ts';
import type { TaskInput, TaskName, TaskOutput } from './tasks.ts';

export interface TaskOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: JobProgress) => void) | undefined;
  /** Buffers of the input that are handed over instead of copied: copying 50 MB holds the host up. */
  readonly transfer?: readonly ArrayBuffer[] | undefined;
}

export interface TextWorkers {
  /** Does a task; one that is cancelled fails with the code CANCELLED. */
  run<N extends TaskName>(name: N, input: TaskInput<N>, options?: TaskOptions): Promise<TaskOutput<N>>;
  close(): Promise<void>;
}

/** Tasks that write files see that they are cancelled and end in good order; the others are ended at once. */
const WRITING: ReadonlySet<TaskName> = new Set<TaskName>([
  'writeDatasets',
  'importReplies',
  'splitReplyRecords',
  'writeTrialRecords',
]);

/** Opens the threads, none yet; `entry` is worker.ts or what a build made of it. */
export function openTextWorkers(entry: string): TextWorkers {
  let idle: Worker | null = null;
  const all = new Set<Worker>();

  function start(): Worker {
    const worker = new Worker(entry);
    all.add(worker);
    worker.once('exit', () => {
      all.delete(worker);
      if (idle === worker) idle = null;
    });
    return worker;
  }

  function giveBack(worker: Worker): void {
    if (idle !== null || !all.has(worker)) return void worker.terminate();
    // A kept thread must not keep the process.
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
        // The thread answers with what the task of that name gives.
        return (await ask(worker, { name, input }, { signal, onProgress, transfer })) as TaskOutput<N>;
      } finally {
        // One that was told to end still takes messages for a while, and would die under the next task.
        if (isCancelled(signal) && !WRITING.has(name)) void worker.terminate();
        else giveBack(worker);
      }
    },
    close: async () => {
      await Promise.all([...all].map((worker) => worker.terminate()));
    },
  };
}

function ask(
  worker: Worker,
  { name, input }: { readonly name: TaskName; readonly input: unknown },
  { signal, onProgress, transfer = [] }: TaskOptions,
): Promise<unknown> {
  const cancel = new Int32Array(new SharedArrayBuffer(4));
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      Atomics.store(cancel, 0, 1);
      // Its result may be on the way already: who cancelled is told so all the same.
      if (!WRITING.has(name)) settle(() => reject(cancelled()));
    };
    const settle = (end: () => void): void => {
      signal?.removeEventListener('abort', abort);
      worker.removeAllListeners('message');
      worker.removeListener('error', failed);
      worker.removeListener('exit', gone);
      end();
    };
    const failed = (error: Error): void => settle(() => reject(died(error.message, error)));
    const gone = (): void => settle(() => reject(isCancelled(signal) ? cancelled() : died('it ended')));
    signal?.addEventListener('abort', abort);
    worker.on('message', (reply: TaskReply) => {
      if (reply.kind === 'progress') onProgress?.(reply.progress);
      else if (reply.kind === 'result') settle(() => resolve(reply.value));
      else settle(() => reject(asError(reply.failure)));
    });
    worker.once('error', failed);
    worker.once('exit', gone);
    worker.postMessage({ name, input, cancel } satisfies TaskMessage, [...transfer]);
  });
}

// A function: the type would not see that a signal changes while one waits.
function isCancelled(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

/** What someone who called a task off is told. */
export function cancelled(): BraidError {
  return new BraidError('CANCELLED', 'Cancelled; what was stored before is as it was', { kind: 'input' });
}

function died(why: string, cause?: unknown): BraidError {
  return new BraidError('TEXT_WORK_DIED', `The work on texts broke off: ${why}; nothing that was stored changed`, {
    remedy: 'Try again with fewer or smaller texts.',
    ...(cause !== undefined && { cause }),
  });
}

function asError({ code, message, remedy, input }: TaskFailure): BraidError {
  return new BraidError(code, message, { kind: input ? 'input' : 'runtime', ...(remedy !== null && { remedy }) });
}

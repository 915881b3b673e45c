/** Entry of the text worker thread: one task per message, with progress and result in return. */
import { parentPort } from 'node:worker_threads';
import { BraidError } from '../../errors.ts';
import { openDocuments } from './document-thread.ts';
import type { TaskContext, TaskFailure, TaskMessage, TaskReply } from './messages.ts';
import { tasks } from './worker-tasks.ts';

/** Progress is sent at most this often. */
const EVERY_MS = 100;

const reply = (message: TaskReply): void => parentPort?.postMessage(message);
reply({ kind: 'ready' });

parentPort?.on('message', async ({ name, input, cancel }: TaskMessage) => {
  let told = 0;
  const context: TaskContext = {
    // Bundled code doesn't know its own location, except in an entry file.
    openDocuments: () => openDocuments(import.meta.filename),
    cancelled: () => Atomics.load(cancel, 0) !== 0,
    progress: (progress) => {
      const now = Date.now();
      if (now - told < EVERY_MS) return;
      told = now;
      reply({ kind: 'progress', progress });
    },
  };
  try {
    // The host's types tie each name to its input, but don't cross the thread boundary.
    const work = tasks[name as keyof typeof tasks] as (input: unknown, context: TaskContext) => unknown;
    reply({ kind: 'result', value: await work(input, context) });
  } catch (error) {
    reply({ kind: 'failed', failure: failureOf(error) });
  }
});

function failureOf(error: unknown): TaskFailure {
  if (error instanceof BraidError) {
    const { code, message, remedy = null, kind } = error;
    return { code, message, remedy, input: kind === 'input' };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: 'UNEXPECTED', message, remedy: null, input: false };
}

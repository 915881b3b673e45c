/** A thread whose replies are waited for synchronously: the training loop waits for rewards as it waits for the model. */
import { MessageChannel, type MessagePort, receiveMessageOnPort, type WorkerOptions } from 'node:worker_threads';
import { type StartedThread, startThread } from '../io/start-thread.ts';
import { pulse } from '../pulse.ts';

/** What a thread replies by: the port, and one Int32 that counts the replies; the other thread sleeps on it. */
export interface ReplyLine {
  readonly port: MessagePort;
  readonly posted: SharedArrayBuffer;
}

export interface SyncThread<Request, Reply> {
  ask(request: Request): void;
  /** The next reply; null: there was none for so long, or the thread has ended. */
  next(withinMs: number): Reply | null;
  /** The same while this thread does other work. */
  later(withinMs: number): Promise<Reply | null>;
  /** Why it can't start, or has ended; null: it is silent. */
  fault(): string | null;
  end(): void;
}

/** Between two signs of life of the waiting thread. */
const SLICE_MS = 500;

/** Starts a thread with `data` and its end of the line as workerData. */
export function startSyncThread<Request, Reply>(
  entry: string,
  data: object,
  options: Pick<WorkerOptions, 'env' | 'resourceLimits'>,
): SyncThread<Request, Reply> {
  const { port1: port, port2: theirs } = new MessageChannel();
  const posted = new SharedArrayBuffer(4);
  const line: ReplyLine = { port: theirs, posted };
  const count = new Int32Array(posted);
  const thread = startThread(entry, count, { workerData: { ...data, ...line }, transferList: [theirs], ...options });
  port.unref();
  return {
    ask: (request) => port.postMessage(request),
    next: (withinMs) => nextReply(port, count, thread, withinMs),
    later: (withinMs) => laterReply(port, count, thread, withinMs),
    fault: thread.fault,
    end: () => {
      port.close();
      void thread.end();
    },
  };
}

/** A reply, null where none can come any more, or how long to wait; `end` as of `performance.now`. */
function replyOrWait<Reply>(
  port: MessagePort,
  thread: StartedThread,
  end: number,
): { readonly reply: Reply | null } | { readonly waitMs: number } {
  // A thread that fails may have replied before.
  const fault = thread.fault();
  const received = receiveMessageOnPort(port) as { readonly message: Reply } | undefined;
  if (received !== undefined) return { reply: received.message };
  const left = end - performance.now();
  return left <= 0 || fault !== null ? { reply: null } : { waitMs: Math.min(left, SLICE_MS) };
}

function nextReply<Reply>(
  port: MessagePort,
  count: Int32Array<SharedArrayBuffer>,
  thread: StartedThread,
  withinMs: number,
): Reply | null {
  const end = performance.now() + withinMs;
  for (;;) {
    const seen = Atomics.load(count, 0);
    const found = replyOrWait<Reply>(port, thread, end);
    if ('reply' in found) return found.reply;
    Atomics.wait(count, 0, seen, found.waitMs);
    pulse();
  }
}

async function laterReply<Reply>(
  port: MessagePort,
  count: Int32Array<SharedArrayBuffer>,
  thread: StartedThread,
  withinMs: number,
): Promise<Reply | null> {
  const end = performance.now() + withinMs;
  // Neither the thread nor what is awaited here keeps a process alive, such as that of a command.
  const alive = setInterval(() => undefined, withinMs);
  try {
    for (;;) {
      const seen = Atomics.load(count, 0);
      const found = replyOrWait<Reply>(port, thread, end);
      if ('reply' in found) return found.reply;
      await Atomics.waitAsync(count, 0, seen, found.waitMs).value;
    }
  } finally {
    clearInterval(alive);
  }
}

/** The thread's side: posts a reply and wakes the waiting thread. */
export function replyPoster<Reply>({ port, posted }: ReplyLine): (reply: Reply) => void {
  const count = new Int32Array(posted);
  return (reply) => {
    port.postMessage(reply);
    Atomics.add(count, 0, 1);
    Atomics.notify(count, 0);
  };
}

/**
 * A reward on its own thread, asked synchronously: the training loop waits for a batch as it waits for the model. A thread
 * that is silent for too long is ended; its completion counts as failed, and a new thread does the rest.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { BraidError, inputError } from '../../errors.ts';
import { pulse } from '../../pulse.ts';
import type { Answer } from '../task.ts';
import {
  LOAD_MS,
  type RewardFunction,
  type RewardProgram,
  type RewardReply,
  type RewardRequest,
  type RewardWorkerData,
} from './messages.ts';

/** The numbers of one completion, or why there are none. */
export type Scored = Extract<RewardReply, { readonly kind: 'numbers' | 'failure' }>;

export interface Scorer {
  /** Calls a function of the reward for each completion; `numbers` are in the order of the components. */
  score(call: RewardFunction, answers: readonly Answer[]): Scored[];
  close(): void;
}

/** To load a thread's code on a busy machine. */
const START_MS = 60_000;
/** Beyond twice the limit of a call, within which QuickJS ends it itself. */
const GRACE_MS = 1000;
/** Between two signs of life of the waiting thread. */
const SLICE_MS = 500;
const RESOURCES = { stackSizeMb: 32, maxOldGenerationSizeMb: 512 };

interface Thread {
  ask(request: RewardRequest): void;
  /** The next reply; null: there was none for so long. */
  next(withinMs: number): RewardReply | null;
  end(): void;
}

/** Opens a scorer without a thread yet; `entry` is worker.ts or its build. */
export function openScorer(program: RewardProgram, entry: string): Scorer {
  let thread: Thread | null = null;
  // A batch's first call loads the reward.
  const patience = 2 * program.limits.timeMs + LOAD_MS + GRACE_MS;

  function started(): Thread {
    const fresh = startThread(program, entry);
    const first = fresh.next(START_MS);
    if (first?.kind === 'ready') return fresh;
    fresh.end();
    if (first?.kind === 'refused')
      throw inputError('BAD_REWARD', first.reason, 'Fix it; `braid task check` tells more.');
    throw new BraidError('REWARD_THREAD', 'The thread that computes rewards did not start', {
      remedy: 'Close other programs and try again.',
    });
  }

  /** The replies of a thread, as far as it gets. */
  function replies(call: RewardFunction, answers: readonly Answer[]): Scored[] {
    thread ??= started();
    thread.ask({ call, answers });
    const scored: Scored[] = [];
    while (scored.length < answers.length) {
      const reply = thread.next(patience);
      if (reply?.kind === 'numbers' || reply?.kind === 'failure') scored.push(reply);
      else {
        thread.end();
        thread = null;
        const reason = `reward.ts: took longer than ${program.limits.timeMs} ms or ran out of memory, and was ended`;
        return [...scored, { kind: 'failure', reason }];
      }
    }
    return scored;
  }

  return {
    score: (call, answers) => {
      thread ??= started();
      const scored: Scored[] = [];
      while (scored.length < answers.length) scored.push(...replies(call, answers.slice(scored.length)));
      return scored;
    },
    close: () => {
      thread?.end();
      thread = null;
    },
  };
}

function startThread(program: RewardProgram, entry: string): Thread {
  const { port1: port, port2: theirs } = new MessageChannel();
  const posted = new SharedArrayBuffer(4);
  const workerData: RewardWorkerData = { program, port: theirs, posted };
  const worker = new Worker(entry, { workerData, transferList: [theirs], resourceLimits: RESOURCES, env: {} });
  // Its end is noticed by its silence; without a listener an error would end this process.
  worker.on('error', () => undefined);
  worker.unref();
  port.unref();
  const count = new Int32Array(posted);
  return {
    ask: (request) => port.postMessage(request),
    next: (withinMs) => nextReply(port, count, withinMs),
    end: () => {
      port.close();
      void worker.terminate();
    },
  };
}

function nextReply(port: MessagePort, count: Int32Array<SharedArrayBuffer>, withinMs: number): RewardReply | null {
  const end = performance.now() + withinMs;
  for (;;) {
    const seen = Atomics.load(count, 0);
    const received = receiveMessageOnPort(port) as { readonly message: RewardReply } | undefined;
    if (received !== undefined) return received.message;
    const left = end - performance.now();
    if (left <= 0) return null;
    Atomics.wait(count, 0, seen, Math.min(left, SLICE_MS));
    pulse();
  }
}

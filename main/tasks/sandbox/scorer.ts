/**
 * A reward on its own thread, asked synchronously: the training loop waits for a batch as it waits for the model. A thread
 * that is silent for too long is ended; its completion counts as failed, and a new thread does the rest.
 */
import { inputError } from '../../errors.ts';
import { didNotStart } from '../../io/start-thread.ts';
import { append } from '../../lists.ts';
import { type SyncThread, startSyncThread } from '../sync-thread.ts';
import type { Answer, EnvironmentTurn } from '../task.ts';
import {
  LOAD_MS,
  REWARD_FILE,
  type RewardBatch,
  type RewardProgram,
  type RewardReply,
  type RewardRequest,
} from './messages.ts';
import { SANDBOX_RESOURCES } from './program-thread.ts';

/** The numbers of one completion, or why there are none. */
export type Scored = Extract<RewardReply, { readonly kind: 'numbers' | 'failure' }>;

/** What the environment says to one turn, or why it says nothing. */
export type Stepped = Extract<RewardReply, { readonly kind: 'step' | 'failure' }>;

export interface Scorer {
  /**
   * Calls a function of the reward for each completion; `numbers` are in the order of the components. `untilFailure`: for
   * none after the first that fails.
   */
  score(call: 'reward' | 'check', answers: readonly Answer[], untilFailure?: boolean): Scored[];
  /** Calls the environment's step for each turn. */
  step(turns: readonly EnvironmentTurn[]): Stepped[];
  close(): void;
}

/** To load a thread's code on a busy machine. */
const START_MS = 60_000;
/** Beyond twice the limit of a call, within which QuickJS ends it itself. */
const GRACE_MS = 1000;

/** A thread that waits for its program. */
export type RewardThread = SyncThread<RewardRequest, RewardReply>;

/** Where threads come from: worker.ts or its build, or whoever has started some already. */
export type RewardThreads = string | (() => RewardThread);

/** Starts a thread; `entry` is worker.ts or its build. */
export function startRewardThread(entry: string): RewardThread {
  return startSyncThread(entry, {}, { resourceLimits: SANDBOX_RESOURCES, env: {} });
}

const NOT_SCORED: Scored = { kind: 'failure', reason: 'not scored, as the reward had failed on one before' };

/** Opens a scorer without a thread yet. */
export function openScorer(program: RewardProgram, threads: RewardThreads): Scorer {
  let thread: RewardThread | null = null;
  // A batch's first call loads the reward.
  const patience = 2 * program.limits.timeMs + LOAD_MS + GRACE_MS;

  function started(): RewardThread {
    const fresh = typeof threads === 'string' ? startRewardThread(threads) : threads();
    fresh.ask({ call: 'load', program });
    let first = fresh.next(START_MS);
    while (first?.kind === 'alive') first = fresh.next(START_MS);
    if (first?.kind === 'ready') return fresh;
    fresh.end();
    if (first?.kind === 'refused') throw inputError('BAD_REWARD', first.reason, "Fix it; the task's screen checks it.");
    throw didNotStart('REWARD_THREAD', 'The thread that computes rewards', fresh.fault());
  }

  /** The replies of a thread, as far as it gets. */
  function replies(request: RewardBatch): (Scored | Stepped)[] {
    thread ??= started();
    thread.ask(request);
    const scored: (Scored | Stepped)[] = [];
    while (scored.length < request.inputs.length) {
      const reply = thread.next(patience);
      if (reply?.kind === 'alive') continue;
      if (reply !== null && reply.kind !== 'ready' && reply.kind !== 'refused') {
        scored.push(reply);
        if (isLast(request, reply)) return scored;
      } else {
        const fault = thread.fault();
        thread.end();
        thread = null;
        const reason =
          fault === null
            ? `${program.file ?? REWARD_FILE}: took longer than ${program.limits.timeMs} ms or ran out of memory, and was ended`
            : `the thread that computes rewards ended: ${fault}`;
        return [...scored, { kind: 'failure', reason }];
      }
    }
    return scored;
  }

  /** The replies of as many threads as it takes. */
  function all<T extends Scored | Stepped>(count: number, request: (from: number) => RewardBatch): T[] {
    thread ??= started();
    const scored: T[] = [];
    // A thread replies to each function in its own way.
    while (scored.length < count) {
      const next = request(scored.length);
      append(scored, replies(next) as T[]);
      const last = scored.at(-1);
      if (last !== undefined && isLast(next, last)) break;
    }
    return scored;
  }

  return {
    score: (call, answers, untilFailure = false) => {
      const scored = all<Scored>(answers.length, (from) => ({ call, inputs: answers.slice(from), untilFailure }));
      return answers.map((_, i) => scored[i] ?? NOT_SCORED);
    },
    step: (turns) => all<Stepped>(turns.length, (from) => ({ call: 'step', inputs: turns.slice(from) })),
    close: () => {
      thread?.end();
      thread = null;
    },
  };
}

/** Whether nothing is scored after this reply. */
function isLast(request: RewardBatch, reply: Scored | Stepped): boolean {
  return reply.kind === 'failure' && request.call !== 'step' && request.untilFailure;
}

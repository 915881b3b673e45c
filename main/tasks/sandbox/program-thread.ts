/**
 * The thread beside the reward's for programs that a model wrote. What QuickJS can't interrupt (a sort of four billion
 * holes) ends with its thread, so that the program has failed and not the reward that judges it.
 */
import type { BraidError } from '../../errors.ts';
import { didNotStart } from '../../io/start-thread.ts';
import { type SyncThread, startSyncThread } from '../sync-thread.ts';
import type { CallOutcome, ProgramCall, ProgramReply, RewardLimits } from './messages.ts';

export interface ProgramThread {
  /** Starts a thread ahead of its first program, without waiting for it. */
  prepare(): void;
  /** A call of the reward begins: all programs of one call share the time of its limit. */
  begin(): void;
  /** Runs a program, then evaluates each expression after it. */
  run(program: string, expressions: readonly string[]): readonly CallOutcome[];
  close(): void;
}

type Thread = SyncThread<ProgramCall, ProgramReply>;

/** To load a thread's code on a busy machine. */
const START_MS = 60_000;
/** Beyond a part's limit, within which QuickJS ends what it can. */
const GRACE_MS = 1000;
export const SANDBOX_RESOURCES = { stackSizeMb: 32, maxOldGenerationSizeMb: 512 };

/** Opens it without a thread yet; `worker`: worker.ts or its build. */
export function openProgramThread(limits: RewardLimits, worker: string): ProgramThread {
  /** The one that runs programs, and one that is being loaded. */
  let [thread, loading]: [Thread | null, Thread | null] = [null, null];
  let leftMs = limits.timeMs;
  const late: CallOutcome = { error: `took longer than ${limits.timeMs} ms together` };

  function prepare(): void {
    loading ??= startSyncThread(worker, { programs: limits }, { resourceLimits: SANDBOX_RESOURCES, env: {} });
  }

  function started(): Thread {
    prepare();
    const fresh = loading as Thread;
    loading = null;
    if (fresh.next(START_MS)?.kind !== 'ready') throw gone(fresh);
    return fresh;
  }

  /** The error of a thread that isn't fit for programs, which is none of theirs. */
  function gone(broken: Thread): BraidError {
    const fault = broken.fault();
    broken.end();
    thread = null;
    return didNotStart('REWARD_THREAD', 'The thread for programs in completions', fault);
  }

  function outcomesOf(program: string, expressions: readonly string[]): CallOutcome[] {
    thread ??= started();
    const partMs = leftMs / (expressions.length + 1);
    thread.ask({ program, expressions, partMs });
    // Its sandbox is opened first, which on a busy machine takes a while.
    if (thread.next(START_MS)?.kind !== 'begun') throw gone(thread);
    const began = performance.now();
    const outcomes: CallOutcome[] = [];
    while (outcomes.length < expressions.length) {
      // The first comes after two parts: the program's own is one.
      const reply = thread.next(2 * partMs + GRACE_MS);
      if (reply?.kind !== 'outcome') {
        thread.end();
        thread = null;
        // The next completion's, while the reward judges this one.
        prepare();
        break;
      }
      outcomes.push(reply.outcome);
    }
    leftMs = Math.max(0, leftMs - (performance.now() - began));
    return outcomes;
  }

  return {
    prepare: () => void (thread === null && prepare()),
    begin: () => {
      leftMs = limits.timeMs;
    },
    run: (program, expressions) => {
      const outcomes = leftMs === 0 || expressions.length === 0 ? [] : outcomesOf(program, expressions);
      return expressions.map((_, i) => outcomes[i] ?? late);
    },
    close: () => {
      thread?.end();
      loading?.end();
    },
  };
}

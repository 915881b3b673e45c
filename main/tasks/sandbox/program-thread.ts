/**
 * The thread beside the reward's for programs that a model wrote. What QuickJS can't interrupt (a sort of four billion
 * holes) ends with its thread, so that the program has failed and not the reward that judges it.
 */
import { didNotStart } from '../../io/start-thread.ts';
import { type SyncThread, startSyncThread } from '../sync-thread.ts';
import type { CallOutcome, ProgramCall, ProgramReply, RewardLimits } from './messages.ts';

export interface ProgramThread {
  /** A call of the reward begins: all programs of one call share the time of its limit. */
  begin(): void;
  /** Runs a program, then evaluates each expression after it. */
  run(program: string, expressions: readonly string[]): readonly CallOutcome[];
  close(): void;
}

/** To load a thread's code on a busy machine. */
const START_MS = 60_000;
/** Beyond a part's limit, within which QuickJS ends what it can. */
const GRACE_MS = 500;
export const SANDBOX_RESOURCES = { stackSizeMb: 32, maxOldGenerationSizeMb: 512 };

/** Opens it without a thread yet; `worker`: worker.ts or its build. */
export function openProgramThread(limits: RewardLimits, worker: string): ProgramThread {
  let thread: SyncThread<ProgramCall, ProgramReply> | null = null;
  let leftMs = limits.timeMs;
  const late: CallOutcome = { error: `took longer than ${limits.timeMs} ms together` };

  function started(): SyncThread<ProgramCall, ProgramReply> {
    const fresh = startSyncThread<ProgramCall, ProgramReply>(
      worker,
      { programs: limits },
      { resourceLimits: SANDBOX_RESOURCES, env: {} },
    );
    if (fresh.next(START_MS)?.kind === 'ready') return fresh;
    fresh.end();
    throw didNotStart('REWARD_THREAD', 'The thread for programs in completions', fresh.fault());
  }

  function outcomesOf(program: string, expressions: readonly string[]): CallOutcome[] {
    thread ??= started();
    const began = performance.now();
    const partMs = leftMs / (expressions.length + 1);
    thread.ask({ program, expressions, partMs });
    const outcomes: CallOutcome[] = [];
    while (outcomes.length < expressions.length) {
      // The first comes after two parts: the program's own is one.
      const reply = thread.next(2 * partMs + GRACE_MS);
      if (reply?.kind !== 'outcome') {
        thread.end();
        thread = null;
        break;
      }
      outcomes.push(reply.outcome);
    }
    leftMs = Math.max(0, leftMs - (performance.now() - began));
    return outcomes;
  }

  return {
    begin: () => {
      leftMs = limits.timeMs;
    },
    run: (program, expressions) => {
      const outcomes = leftMs === 0 || expressions.length === 0 ? [] : outcomesOf(program, expressions);
      return expressions.map((_, i) => outcomes[i] ?? late);
    },
    close: () => thread?.end(),
  };
}

/**
 * A run's events on their way into the history. What can't be stored waits, and is stored before later ones: steps would
 * be missing in the middle otherwise. While another program holds the database, the trainer continues.
 */
import { isLocked } from '../../store/errors.ts';
import type { Store } from '../../store/index.ts';
import type { TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { PATIENCE_MS, whenUnlocked } from '../workspace/when-unlocked.ts';

const RETRY_MS = 500;

export interface EventLogOptions {
  /** Called before events are filed and stored; throws where that has to wait. */
  readonly prepare: (events: readonly TrainerEvent[]) => void;
  /** Is given each event once. */
  readonly file: (events: readonly TrainerEvent[]) => void;
  /** Stores all of them or throws. */
  readonly record: (events: readonly TrainerEvent[]) => void;
  /** Called when they can't be stored, each time. */
  readonly lose: (cause: unknown, events: readonly TrainerEvent[]) => void;
  readonly patienceMs?: number;
}

export interface EventLog {
  add(events: readonly TrainerEvent[]): void;
  /** Stores the rest, then does `work` with the history; waits for another program for as long as is left. */
  finish<T>(work: () => T): Promise<T>;
}

/** Opens the log of a run that trains. */
export function openEventLog(store: Pick<Store, 'isHeld'>, options: EventLogOptions): EventLog {
  const { prepare, file, record, lose, patienceMs = PATIENCE_MS } = options;
  let pending: readonly TrainerEvent[] = [];
  let unfiled: readonly TrainerEvent[] = [];
  let heldSince: number | null = null;
  let retry: NodeJS.Timeout | undefined;

  function storeAll(): void {
    if (pending.length === 0) return;
    prepare(pending);
    const fresh = unfiled;
    unfiled = [];
    file(fresh);
    record(pending);
    pending = [];
    heldSince = null;
  }

  /** Of the patience with whoever holds the database. */
  function left(): number {
    heldSince ??= performance.now();
    return patienceMs - (performance.now() - heldSince);
  }

  function attempt(): void {
    retry = undefined;
    try {
      if (heldSince !== null && left() > 0 && store.isHeld()) wait();
      else storeAll();
    } catch (cause) {
      if (isLocked(cause) && left() > 0) wait();
      else lose(cause, pending);
    }
  }

  /** Not at every batch: each attempt may block this process for a moment. */
  function wait(): void {
    retry = setTimeout(attempt, RETRY_MS).unref();
  }

  return {
    add: (events) => {
      pending = [...pending, ...events];
      unfiled = [...unfiled, ...events];
      if (retry === undefined) attempt();
    },
    finish: async (work) => {
      clearTimeout(retry);
      for (;;) {
        try {
          storeAll();
          return work();
        } catch (cause) {
          if (!isLocked(cause) || !(await whenUnlocked(store, left()))) throw cause;
        }
      }
    },
  };
}

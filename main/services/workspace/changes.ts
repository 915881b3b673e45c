/** Change notifications for readers: small topics, never the data itself. A reader fetches what it shows. */
import { setTimeout as sleep } from 'node:timers/promises';

export type Topic =
  | 'status'
  | 'texts'
  | 'datasets'
  | 'stages'
  | 'sweeps'
  | 'runs'
  | 'run'
  | 'samples'
  | 'evaluations'
  | 'models'
  | 'tasks'
  | 'settings'
  | 'replies'
  | 'native'
  | 'engines'
  | 'conversations'
  | 'served'
  | 'jobs';

export interface Change {
  /** `run`: one run has progressed, perhaps by a step. `runs`: the list of runs, or more of a run than its steps. */
  readonly topic: Topic;
  /** Id of the run concerned; null: any. */
  readonly id: number | null;
}

export interface Changes {
  publish(topic: Topic, id?: number): void;
  /** Calls the listener with each change as it happens; returns a function to stop. */
  listen(listener: (change: Change) => void): () => void;
  /** Number of listeners: a closed page must not be among them. */
  listeners(): number;
  /**
   * Batches of changes, each once, at most one batch in `everyMs`. Ends when the signal aborts. Changes that happen
   * while the reader is busy wait for it.
   */
  batches(everyMs: number, signal?: AbortSignal): AsyncGenerator<readonly Change[]>;
}

/** Opens the list of listeners. */
export function openChanges(): Changes {
  const listeners = new Set<(change: Change) => void>();

  function listen(listener: (change: Change) => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  return {
    publish: (topic, id) => {
      for (const listener of listeners) listener({ topic, id: id ?? null });
    },
    listen,
    listeners: () => listeners.size,
    batches: (everyMs, signal) => {
      const waiting = new Map<string, Change>();
      const bell = openBell();
      // Subscribes now, not at the reader's first read.
      const stop = listen((change) => {
        waiting.set(`${change.topic}:${change.id}`, change);
        bell.ring();
      });
      signal?.addEventListener('abort', bell.ring);
      return deliver(waiting, bell, everyMs, signal, () => {
        stop();
        signal?.removeEventListener('abort', bell.ring);
      });
    },
  };
}

async function* deliver(
  waiting: Map<string, Change>,
  bell: Bell,
  everyMs: number,
  signal: AbortSignal | undefined,
  end: () => void,
): AsyncGenerator<readonly Change[]> {
  try {
    while (!signal?.aborted) {
      await bell.rung();
      if (signal?.aborted) return;
      const batch = [...waiting.values()];
      waiting.clear();
      if (batch.length === 0) continue;
      yield batch;
      // Less when the signal aborts.
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    end();
  }
}

/** If triggered before anyone waits, the next waiter gets it. */
interface Bell {
  readonly ring: () => void;
  rung(): Promise<void>;
}

function openBell(): Bell {
  let wake: (() => void) | null = null;
  let heard = true;
  return {
    ring: () => {
      heard = false;
      wake?.();
    },
    rung: async () => {
      if (heard) await new Promise<void>((resolve) => (wake = resolve));
      wake = null;
      heard = true;
    },
  };
}

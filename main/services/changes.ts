/** What changed, told to whoever shows it: small topics, never the data itself. A reader fetches what it shows. */

export type Topic =
  | 'status'
  | 'texts'
  | 'datasets'
  | 'stages'
  | 'runs'
  | 'run'
  | 'evaluations'
  | 'models'
  | 'settings'
  | 'jobs';

export interface Change {
  readonly topic: Topic;
  /** Of the run, where the topic is one. */
  readonly id: number | null;
}

export interface Changes {
  publish(topic: Topic, id?: number): void;
  /** Calls the listener with each change, as it happens; gives the way to stop. */
  listen(listener: (change: Change) => void): () => void;
  /**
   * Batches of changes, each once, at most one batch in `everyMs`. Ends when the signal aborts. Changes that happen
   * while the reader is busy wait for it.
   */
  batches(everyMs: number, signal?: AbortSignal): AsyncGenerator<readonly Change[]>;
}

/** Opens the list of those who listen. */
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
    async *batches(everyMs, signal) {
      const waiting = new Map<string, Change>();
      let wake: () => void = () => undefined;
      const stop = listen((change) => {
        waiting.set(`${change.topic}:${change.id}`, change);
        wake();
      });
      const woken = (): void => wake();
      signal?.addEventListener('abort', woken);
      try {
        while (!signal?.aborted) {
          if (waiting.size === 0) await new Promise<void>((resolve) => (wake = resolve));
          if (signal?.aborted) return;
          if (waiting.size === 0) continue;
          const batch = [...waiting.values()];
          waiting.clear();
          yield batch;
          await pause(everyMs, signal);
        }
      } finally {
        stop();
        signal?.removeEventListener('abort', woken);
      }
    },
  };
}

/** Waits, or less when the signal aborts. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
  });
}

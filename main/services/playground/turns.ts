/** Several models may answer at the same time, each in a process of its own, as far as memory holds them. */

export interface Turns {
  /**
   * Waits until `bytes` are free or nobody else is answering; null: cancelled meanwhile. Others' memory counts as used
   * from their turn on, since the system sees it only once it is filled.
   */
  take(bytes: number, signal?: AbortSignal): Promise<Turn | null>;
}

export interface Turn {
  /** The memory is filled: the system now counts it. */
  filled(): void;
  end(): void;
}

/** Opens the queue of a workspace; `freeBytes` is what the system says. */
export function openTurns(freeBytes: () => number): Turns {
  const active = new Set<{ promised: number }>();
  let waiting: (() => void)[] = [];
  const wake = (): void => {
    const all = waiting;
    waiting = [];
    for (const next of all) next();
  };
  const hasRoom = (bytes: number): boolean => {
    const promised = [...active].reduce((sum, one) => sum + one.promised, 0);
    return active.size === 0 || bytes + promised <= freeBytes();
  };
  return {
    take: async (bytes, signal) => {
      while (!hasRoom(bytes)) {
        if (signal?.aborted) return null;
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          signal?.addEventListener('abort', () => resolve(), { once: true });
        });
      }
      if (signal?.aborted) return null;
      const own = { promised: bytes };
      active.add(own);
      return {
        filled: () => {
          own.promised = 0;
          wake();
        },
        end: () => {
          active.delete(own);
          wake();
        },
      };
    },
  };
}

/** What the trainer process sends, and when: events of a turn together, what somebody watches as it is made at once. */
import type { HostEvent } from './host-port.ts';

/** Between heartbeats of a working process: not at every token. */
const BUSY_BEAT_MS = 1000;

export interface Outbox {
  emit(event: HostEvent): void;
  beat(): void;
  /** Sends what waits; resolves once the channel has accepted all of it. */
  flush(): Promise<void>;
}

/** Opens the outbox of a port. */
export function openOutbox(send: (batch: readonly HostEvent[]) => Promise<void>): Outbox {
  let queue: HostEvent[] = [];
  let delivered: Promise<unknown> = Promise.resolve();
  let lastBeat = Number.NEGATIVE_INFINITY;

  const flush = (): void => {
    const batch = queue;
    queue = [];
    if (batch.length > 0) delivered = send(batch);
  };

  const beat = (): void => {
    if (performance.now() - lastBeat < BUSY_BEAT_MS) return;
    lastBeat = performance.now();
    void send([{ kind: 'alive', memoryBytes: process.memoryUsage.rss() }]);
  };

  return {
    emit: (event) => {
      // Sent also during synchronous work, whose turn may last until the end.
      if (event.kind === 'alive') return beat();
      const isFirst = queue.push(event) === 1;
      if (event.kind === 'text' || event.kind === 'messages' || event.kind === 'answer') flush();
      // The host stores a batch in one transaction.
      else if (isFirst) setImmediate(flush);
    },
    beat,
    flush: async () => {
      flush();
      await delivered;
    },
  };
}

/** The way to the host: Fork's channel in plain Node, the parent port in the desktop's utility process. */
import type { JobEvent, TrainerCommand, TrainerEvent } from './events.ts';
import type { TrainerJob } from './jobs.ts';

export type HostEvent = TrainerEvent | JobEvent;

export interface HostPort {
  onMessage(listener: (message: TrainerJob | TrainerCommand) => void): void;
  /** Settles once the channel has taken the batch. */
  send(batch: readonly HostEvent[]): Promise<void>;
  /** Lets go of the host; the process then ends by itself. */
  close(): void;
}

/** What Electron puts on `process` in a utility process (electron.d.ts: ParentPort). */
interface ParentPort {
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): void;
  postMessage(message: unknown): void;
}

/** Opens the line to whichever host started this process. */
export function openHostPort(): HostPort {
  const { parentPort } = process as unknown as { parentPort?: ParentPort };
  return parentPort === undefined ? forkPort() : utilityPort(parentPort);
}

function forkPort(): HostPort {
  process.on('disconnect', () => process.exit(1));
  return {
    onMessage: (listener) => void process.on('message', listener),
    send: (batch) => new Promise((resolve) => process.send?.(batch, () => resolve())),
    close: () => process.disconnect(),
  };
}

/** Chromium ends a utility process together with its parent. */
function utilityPort(port: ParentPort): HostPort {
  return {
    onMessage: (listener) => port.on('message', ({ data }) => listener(data as TrainerJob | TrainerCommand)),
    send: async (batch) => port.postMessage(batch),
    // An open port keeps the process; what was posted is written out when the loop turns.
    close: () => void setTimeout(() => process.exit(0), 100),
  };
}

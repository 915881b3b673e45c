/** The port to the host: fork's channel in plain Node, the parent port in the desktop's utility process. */

import type { TrainerJob } from '../jobs/jobs.ts';
import type { HostCommand, JobEvent, TrainerEvent } from '../protocol/trainer-events.ts';

export type HostEvent = TrainerEvent | JobEvent;

export interface HostPort<In, Out> {
  onMessage(listener: (message: In) => void): void;
  /** Resolves once the channel has accepted the batch. */
  send(batch: readonly Out[]): Promise<void>;
  /** Releases the port; the process then exits by itself. */
  close(): void;
}

/** What Electron puts on `process` in a utility process (electron.d.ts: ParentPort). */
interface ParentPort {
  on(event: 'message', listener: (event: { readonly data: unknown }) => void): void;
  postMessage(message: unknown): void;
}

/**
 * Said last in a utility process, and said back by its host. Messages keep their order: a host that answers has all
 * that came before. An exit after a fixed time lost the end of a run on a host that was busy for as long.
 */
export const LAST_WORD = 'braid:last-word';

/** How long the answer is waited for; a host that is gone takes its utility processes with it anyway. */
const ANSWER_MS = 60_000;

/** Opens the line to whichever host started this process. */
export function openHostPort<In = TrainerJob | HostCommand, Out = HostEvent>(): HostPort<In, Out> {
  const { parentPort } = process as unknown as { parentPort?: ParentPort };
  return parentPort === undefined ? forkPort() : utilityPort(parentPort);
}

/**
 * Nothing here calls process.exit where it can be helped: under load Node may wait there for ever for a compiler thread
 * that waits for the main thread (nodejs/node#54918).
 */
function forkPort<In, Out>(): HostPort<In, Out> {
  // The host is gone, and with it whoever would read an exit code.
  const die = (): void => void process.kill(process.pid, 'SIGKILL');
  process.on('disconnect', die);
  return {
    onMessage: (listener) => void process.on('message', listener),
    send: (batch) => new Promise((resolve) => process.send?.(batch, () => resolve())),
    close: () => {
      process.off('disconnect', die);
      process.disconnect();
    },
  };
}

/** Chromium terminates a utility process together with its parent. */
function utilityPort<In, Out>(port: ParentPort): HostPort<In, Out> {
  return {
    onMessage: (listener) =>
      port.on('message', ({ data }) => {
        if (data === LAST_WORD) process.exit(0);
        listener(data as In);
      }),
    send: async (batch) => port.postMessage(batch),
    close: () => {
      port.postMessage(LAST_WORD);
      setTimeout(() => process.exit(0), ANSWER_MS);
    },
  };
}

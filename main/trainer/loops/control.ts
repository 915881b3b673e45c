import type { TrainerCommand, TrainerEvent } from '../protocol/trainer-events.ts';

/** The host's commands, checked between two steps. */
export interface Control {
  /** Receives pending messages, waits while paused, and returns whether to stop. */
  checkIn(step: number): Promise<'go' | 'stop'>;
  /** A pause requested by the trainer itself, effective at the next check. */
  requestPause(reason: string): void;
  receive(command: TrainerCommand): void;
}

/** Opens the mailbox of a run. */
export function openControl(emit: (event: TrainerEvent) => void): Control {
  let stop = false;
  let pauseReason: string | null = null;
  let byWatch = false;
  let wake: (() => void) | null = null;
  return {
    requestPause: (reason) => {
      pauseReason = reason;
      byWatch = true;
    },
    receive: (command) => {
      byWatch = false;
      if (command.kind === 'pause') pauseReason = 'asked for';
      else pauseReason = null;
      if (command.kind === 'stop') stop = true;
      wake?.();
    },
    checkIn: async (step) => {
      // Steps are synchronous: messages arrive only when the event loop runs.
      await new Promise((resolve) => setImmediate(resolve));
      if (pauseReason !== null && !stop) {
        emit({ kind: 'paused', step, reason: pauseReason, byWatch });
        while (pauseReason !== null && !stop) await new Promise<void>((resolve) => (wake = resolve));
        wake = null;
        if (!stop) emit({ kind: 'resumed', step });
      }
      return stop ? 'stop' : 'go';
    },
  };
}

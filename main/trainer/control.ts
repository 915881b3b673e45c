import type { TrainerCommand, TrainerEvent } from './events.ts';

/** What the host has asked for, looked at between two steps. */
export interface Control {
  /** Lets waiting messages in, waits while paused, and says whether to stop. */
  checkIn(step: number): Promise<'go' | 'stop'>;
  /** A pause of the trainer's own accord, taken at the next check-in. */
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
      // Steps are synchronous: messages come in only when the event loop turns.
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

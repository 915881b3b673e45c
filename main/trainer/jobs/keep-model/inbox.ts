/** What the host sends to a job that keeps a model, between two tokens. */
import type { AnswerCommand } from '../../protocol/answers.ts';
import type { HostCommand } from '../../protocol/trainer-events.ts';

export interface Inbox {
  receive(command: HostCommand): void;
  /** What has come since the last call; waits at most `waitMs` for something. */
  take(waitMs: number): Promise<{ readonly commands: readonly AnswerCommand[]; readonly stop: boolean }>;
}

export function openInbox(): Inbox {
  let commands: AnswerCommand[] = [];
  let stop = false;
  let wake: () => void = () => undefined;
  return {
    receive: (command) => {
      if (command.kind === 'stop') stop = true;
      if (command.kind === 'ask' || command.kind === 'cancel') commands.push(command);
      wake();
    },
    take: async (waitMs) => {
      // Decoding is synchronous: messages arrive only when the event loop runs.
      await new Promise((resolve) => setImmediate(resolve));
      if (commands.length === 0 && !stop && waitMs > 0)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, waitMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      const taken = commands;
      commands = [];
      return { commands: taken, stop };
    },
  };
}

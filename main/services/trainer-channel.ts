/** The line to a trainer process, as a plain Node host and the desktop each can give it. */
import { fork } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { TrainerCommand } from '../trainer/events.ts';
import type { TrainerJob } from '../trainer/jobs.ts';
import { YIELDS } from '../trainer/priority.ts';

/** A trainer process that has just been started and waits for its job. */
export interface TrainerChannel {
  /** Undefined where the system refused to start it. */
  readonly pid: number | undefined;
  readonly stderr: Readable | null;
  /** A process that is gone takes no messages: they are dropped, its exit tells the story. */
  post(message: TrainerJob | TrainerCommand): void;
  /** Ends it at once. */
  kill(): void;
  onMessage(listener: (message: unknown) => void): void;
  /** Called once, after the last message. */
  onExit(listener: (code: number | null, signal: string | null) => void): void;
}

/** Starts a trainer process; `env` joins the host's environment. */
export type LaunchTrainer = (env?: Readonly<Record<string, string>>) => TrainerChannel;

/** Launches trainers that leave the processor to whoever else asks for it: the pages of an app stay quick beside them. */
export function yielding(launch: LaunchTrainer): LaunchTrainer {
  return (env) => launch({ ...env, [YIELDS]: '1' });
}

/** Launches the trainer as a fork of this Node. */
export function forkTrainer(entry: string): LaunchTrainer {
  return (env) => {
    const child = fork(entry, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      ...(env !== undefined && { env: { ...process.env, ...env } }),
    });
    child.on('error', () => undefined);
    return {
      pid: child.pid,
      stderr: child.stderr,
      post: (message) => {
        if (child.connected) child.send(message, () => undefined);
      },
      kill: () => void child.kill('SIGKILL'),
      onMessage: (listener) => void child.on('message', listener),
      onExit: (listener) => void child.on('close', listener),
    };
  };
}

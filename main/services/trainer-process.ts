/** The trainer process as its host sees it: forked, sent one job, listened to, never trusted to live. */
import { type ChildProcess, fork } from 'node:child_process';
import { BraidError } from '../errors.ts';
import type { Failure, TrainerCommand } from '../trainer/events.ts';
import type { EventOf, TrainerJob } from '../trainer/jobs.ts';

/** How the process ended. */
export interface TrainerExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last lines that it wrote to stderr. */
  readonly stderr: string;
}

export interface TrainerProcess {
  readonly pid: number | undefined;
  send(command: TrainerCommand): void;
  kill(): void;
  /** Settles when the process is gone and its last events have been handed on. Never rejects. */
  readonly exited: Promise<TrainerExit>;
}

export interface SpawnOptions<E> {
  /** The trainer's entry file. */
  readonly entry: string;
  readonly onEvents: (events: readonly E[]) => void;
}

/** Lines of stderr that are kept for the reason of a crash. */
const STDERR_LINES = 20;

/** Forks a trainer process and sends it its job. */
export function spawnTrainer<J extends TrainerJob>(
  job: J,
  { entry, onEvents }: SpawnOptions<EventOf<J>>,
): TrainerProcess {
  const child = fork(entry, [], { serialization: 'advanced', stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const stderr = keepTail(child);
  child.on('message', (events) => onEvents(events as readonly EventOf<J>[]));
  // A dead process can't take messages; its exit tells the story.
  child.on('error', () => undefined);
  const exited = new Promise<TrainerExit>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stderr: stderr() }));
  });
  const send = (message: TrainerJob | TrainerCommand): void => {
    if (child.connected) child.send(message, () => undefined);
  };
  send(job);
  return { pid: child.pid, send, kill: () => child.kill('SIGKILL'), exited };
}

/** A failure that a trainer told of; one that only the person's input can cause keeps its kind across the border. */
export function failedError({ code, message, remedy, input }: Failure): BraidError {
  return new BraidError(code, message, { kind: input ? 'input' : 'runtime', ...(remedy === null ? {} : { remedy }) });
}

/** How a process ended, in words: `with code 1: <its stderr>`. */
export function describeExit({ code, signal, stderr }: TrainerExit): string {
  const how = `The trainer process ended ${signal === null ? `with code ${code}` : `by ${signal}`}`;
  return stderr === '' ? how : `${how}: ${stderr}`;
}

function keepTail(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-20_000);
  });
  return () => text.trim().split('\n').slice(-STDERR_LINES).join('\n');
}

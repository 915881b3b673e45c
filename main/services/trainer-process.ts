/** The trainer process as its host sees it: started, sent one job, listened to, never trusted to live. */
import type { Readable } from 'node:stream';
import { BraidError } from '../errors.ts';
import type { Failure, TrainerCommand } from '../trainer/events.ts';
import type { EventOf, TrainerJob } from '../trainer/jobs.ts';
import type { LaunchTrainer } from './trainer-channel.ts';

/** How the process ended. */
export interface TrainerExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last lines that it wrote to stderr. */
  readonly stderr: string;
  /** Set when its host killed it because it had said nothing for so long. */
  readonly silentForMs: number | null;
}

export interface TrainerProcess {
  readonly pid: number | undefined;
  send(command: TrainerCommand): void;
  kill(): void;
  /** Settles when the process is gone and its last events have been handed on. Never rejects. */
  readonly exited: Promise<TrainerExit>;
}

export interface SpawnOptions<E> {
  readonly launch: LaunchTrainer;
  readonly onEvents: (events: readonly E[]) => void;
  /** A process that says nothing for so long is taken for hung and killed; by default it may be silent for ever. */
  readonly silenceMs?: number;
}

/** Lines of stderr that are kept for the reason of a crash. */
const STDERR_LINES = 20;

/** Starts a trainer process and sends it its job. */
export function spawnTrainer<J extends TrainerJob>(
  job: J,
  { launch, onEvents, silenceMs }: SpawnOptions<EventOf<J>>,
): TrainerProcess {
  const channel = launch();
  const stderr = keepTail(channel.stderr);
  const silence = watchSilence(silenceMs, channel.kill);
  channel.onMessage((events) => {
    silence.heard();
    onEvents(events as readonly EventOf<J>[]);
  });
  const exited = new Promise<TrainerExit>((resolve) => {
    channel.onExit((code, signal) => {
      silence.end();
      resolve({ code, signal, stderr: stderr(), silentForMs: silence.broken() ? (silenceMs ?? 0) : null });
    });
  });
  channel.post(job);
  return { pid: channel.pid, send: channel.post, kill: channel.kill, exited };
}

/** Calls `onSilent` once when nothing was heard for `limitMs`. */
function watchSilence(limitMs: number | undefined, onSilent: () => void) {
  let broken = false;
  const give = (): void => {
    broken = true;
    onSilent();
  };
  const timer = limitMs === undefined ? null : setTimeout(give, limitMs).unref();
  return { heard: () => void timer?.refresh(), end: () => timer && clearTimeout(timer), broken: () => broken };
}

/** A failure that a trainer told of; one that only the person's input can cause keeps its kind across the border. */
export function failedError({ code, message, remedy, input }: Failure): BraidError {
  return new BraidError(code, message, { kind: input ? 'input' : 'runtime', ...(remedy === null ? {} : { remedy }) });
}

/** How a process ended, in words: `with code 1: <its stderr>`. */
export function describeExit({ code, signal, stderr, silentForMs }: TrainerExit): string {
  const how =
    silentForMs === null
      ? `The trainer process ended ${signal === null ? `with code ${code}` : inWords(signal)}`
      : `The trainer process hung: it said nothing for ${Math.round(silentForMs / 1000)} s and was ended`;
  return stderr === '' ? how : `${how}: ${stderr}`;
}

/** Linux ends processes by SIGKILL where memory runs out, and leaves no word. */
function inWords(signal: string): string {
  return signal === 'SIGKILL' ? 'by SIGKILL (someone killed it, or the system did for lack of memory)' : `by ${signal}`;
}

function keepTail(stream: Readable | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-20_000);
  });
  return () => text.trim().split('\n').slice(-STDERR_LINES).join('\n');
}

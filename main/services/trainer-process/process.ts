/** The trainer process from the host's side: started, sent one job, listened to; it may die at any time. */
import type { Readable } from 'node:stream';
import { BraidError } from '../../errors.ts';
import { addressSpaceLimit } from '../../io/memory.ts';
import { formatBytes } from '../../text/format.ts';
import type { BackendSetting } from '../../trainer/config/backend-names.ts';
import type { EventOf, TrainerJob } from '../../trainer/jobs/jobs.ts';
import type { Failure } from '../../trainer/protocol/failure.ts';
import type { HostCommand } from '../../trainer/protocol/trainer-events.ts';
import type { LaunchTrainer } from './channel.ts';
import { withoutLibraryLog } from './library-log.ts';

/** How the process ended. */
export interface TrainerExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Its stderr; of a long one the end. */
  readonly stderr: string;
  /** Why it could not be started; null: it was. */
  readonly fault: string | null;
  /** Set if the host killed it after a silence of this length. */
  readonly silentForMs: number | null;
}

export interface TrainerProcess {
  readonly pid: number | undefined;
  send(command: HostCommand): void;
  kill(): void;
  /** Resolves when the process has exited and its last events were delivered. Never rejects. */
  readonly exited: Promise<TrainerExit>;
}

export interface SpawnOptions<E> {
  readonly launch: LaunchTrainer;
  readonly onEvents: (events: readonly E[]) => void;
  /** A process silent for longer counts as hung and is killed; by default there is no limit. */
  readonly silenceMs?: number;
}

/** Lines of stderr that are part of the reason for a crash. */
const STDERR_LINES = 20;
/** What is kept of stderr, in characters. */
const STDERR_KEPT = 200_000;
/** Checks for silence within the limit: a hung process is killed at most a twentieth later than the limit says. */
const CHECKS_PER_LIMIT = 20;

/** Starts a trainer process and sends it its job. */
export function spawnTrainer<J extends TrainerJob>(
  job: J,
  { launch, onEvents, silenceMs }: SpawnOptions<EventOf<J>>,
): TrainerProcess {
  const channel = launch(undefined, backendOf(job));
  const stderr = keepTail(channel.stderr);
  const silence = watchSilence(silenceMs, channel.kill);
  channel.onMessage((events) => {
    silence.heard();
    onEvents(events as readonly EventOf<J>[]);
  });
  const exited = new Promise<TrainerExit>((resolve) => {
    channel.onExit((code, signal, fault) => {
      silence.end();
      resolve({ code, signal, fault, stderr: stderr(), silentForMs: silence.broken() ? (silenceMs ?? 0) : null });
    });
  });
  try {
    channel.post(job);
  } catch (error) {
    // It would wait for its job for ever.
    channel.kill();
    throw error;
  }
  return { pid: channel.pid, send: channel.post, kill: channel.kill, exited };
}

/** The backend that a job asks for; undefined: it computes elsewhere, or nothing. */
function backendOf(job: TrainerJob): BackendSetting | undefined {
  const isRemote = 'engine' in job && job.engine != null;
  if (isRemote) return undefined;
  return job.kind === 'start' ? job.config.backend : 'backend' in job ? job.backend : undefined;
}

/**
 * Calls `onSilent` once when there was no message for `limitMs`, or little longer. Time is counted in checks, not by the
 * clock: otherwise the machine's own sleep would count, and a run would be killed on waking.
 */
function watchSilence(limitMs: number | undefined, onSilent: () => void) {
  let checks = 0;
  let broken = false;
  const check = (): void => {
    checks += 1;
    if (checks <= CHECKS_PER_LIMIT) return;
    clearInterval(timer);
    broken = true;
    onSilent();
  };
  const timer = limitMs === undefined ? undefined : setInterval(check, limitMs / CHECKS_PER_LIMIT).unref();
  return {
    heard: () => {
      checks = 0;
    },
    end: () => clearInterval(timer),
    broken: () => broken,
  };
}

/** A failure reported by a trainer; one caused by user input keeps its kind across the process boundary. */
export function failedError({ code, message, remedy, input }: Failure): BraidError {
  return new BraidError(code, message, { kind: input ? 'input' : 'runtime', ...(remedy === null ? {} : { remedy }) });
}

/** A description of how a process ended: `with code 1: <its stderr without what libraries log>`, an error first. */
export function describeExit(
  { code, signal, fault, stderr, silentForMs }: TrainerExit,
  process = 'The trainer process',
): string {
  if (fault !== null) return `${process} can't be started: ${fault}`;
  const lines = withoutLibraryLog(stderr).split('\n').slice(-STDERR_LINES);
  const error = lines.findIndex((line) => /^(Uncaught )?([A-Z]\w*)?(Error|Exception)\b.*: /.test(line));
  // Node writes where it happened before what happened.
  const said = [...lines.slice(Math.max(0, error)), ...lines.slice(0, Math.max(0, error))].join('\n');
  const how =
    silentForMs === null
      ? `${process} ended ${signal === null ? `with code ${code}` : inWords(signal)}`
      : `${process} hung: it was silent for ${Math.round(silentForMs / 1000)} s and was killed`;
  return said === '' ? how : `${how}: ${said}`;
}

/** What ends a process that doesn't survive that memory is refused to it. */
const FAULTS = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGTRAP', 'SIGILL'];

/** Linux kills processes with SIGKILL when memory runs out, without a message. */
function inWords(signal: string): string {
  if (signal === 'SIGKILL') return 'with SIGKILL (killed by a user, or by the system when memory ran out)';
  const limit = FAULTS.includes(signal) ? addressSpaceLimit() : null;
  if (limit === null) return `with ${signal}`;
  return `with ${signal} (probably out of memory: ulimit -v allows it ${formatBytes(limit)}; raise that before resuming)`;
}

/** Reads a process's stderr; gives its end. */
export function keepTail(stream: Readable | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-STDERR_KEPT);
  });
  return () => text;
}

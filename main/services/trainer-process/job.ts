/** A side job of the trainer process as a promise: with progress, one result or a clear error. */
import { BraidError } from '../../errors.ts';
import { startRemedy } from '../../io/start-reason.ts';
import type { ChatMessage } from '../../samples/chat-message.ts';
import type { SideJob, SideJobResult } from '../../trainer/jobs/jobs.ts';
import type { JobEvent } from '../../trainer/protocol/trainer-events.ts';
import type { LaunchTrainer } from './channel.ts';
import { describeExit, failedError, spawnTrainer } from './process.ts';

export interface JobProgress {
  readonly done: number;
  /** 0 while unknown. */
  readonly total: number;
  readonly unit: string;
  /** The current step, for work with several. */
  readonly step?: string;
}

export interface JobOptions {
  readonly onProgress?: (progress: JobProgress) => void;
  /** Called with what speaks against the backend that was asked for. */
  readonly onWarning?: (warning: string) => void;
  /** Ends the process; the promise then fails with the code INTERRUPTED. */
  readonly signal?: AbortSignal;
}

export interface TextJobOptions extends JobOptions {
  /** A process silent for longer counts as hung and is killed; by default ten minutes. */
  readonly silenceMs?: number;
  /** Called with the full text so far as it grows. */
  readonly onText?: (text: string, tokens: number) => void;
  /** Called with a conversation so far, after each turn of it. */
  readonly onMessages?: (messages: readonly ChatMessage[], tokens: number) => void;
}

/** A job's result and the backend. */
export interface JobOutcome<R> {
  readonly value: R;
  readonly backend: string;
  readonly threads: number;
  /** Why that backend was chosen, and what it runs on. */
  readonly why: string;
}

/** Like the setting `hang_minutes` for runs: a model's files (a chat template, a tokenizer) may never finish. */
const SILENCE_MS = 10 * 60_000;

/** Runs a side job in a separate trainer process. */
export async function runTrainerJob<J extends SideJob>(
  job: J,
  launch: LaunchTrainer,
  { onProgress, onWarning, onText, onMessages, signal, silenceMs = SILENCE_MS }: TextJobOptions = {},
): Promise<JobOutcome<SideJobResult<J>>> {
  if (isAborted(signal)) throw interrupted();
  const told: Told = {};
  // A side job's process sends JobEvents only; jobs.ts types them by kind of job, which the generic J hides.
  const onEvents = (events: readonly unknown[]): void => {
    for (const event of events as readonly JobEvent[]) {
      take(told, event);
      if (event.kind === 'progress') onProgress?.(event);
      if (event.kind === 'ready' && event.warning !== undefined) onWarning?.(event.warning);
      if (event.kind === 'text') onText?.(event.text, event.tokens);
      if (event.kind === 'messages') onMessages?.(event.messages, event.tokens);
    }
  };
  const trainer = spawnTrainer<SideJob>(job, { launch, onEvents, silenceMs });
  signal?.addEventListener('abort', trainer.kill);
  const exit = await trainer.exited;
  signal?.removeEventListener('abort', trainer.kill);
  if (isAborted(signal)) throw interrupted();
  const { ready, result, failure } = told;
  if (failure !== undefined) throw failure;
  if (ready === undefined || result === undefined) {
    const reason = describeExit(exit);
    throw new BraidError('TRAINER_DIED', reason, { remedy: startRemedy(reason) ?? HINT });
  }
  const { backend, threads, why } = ready;
  return { value: result.value as SideJobResult<J>, backend, threads, why };
}

/** The process's output so far. */
interface Told {
  ready?: Extract<JobEvent, { kind: 'ready' }>;
  result?: Extract<JobEvent, { kind: 'result' }>;
  failure?: BraidError;
}

function take(told: Told, event: JobEvent): void {
  if (event.kind === 'ready') told.ready = event;
  if (event.kind === 'result') told.result = event;
  if (event.kind === 'failed') told.failure = failedError(event);
}

const HINT = 'If memory ran out, use fewer rows at a time or a smaller model; the doctor in Settings checks the rest.';

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted ?? false;
}

/** The error of work that was cancelled. */
export function interrupted(): BraidError {
  return new BraidError('INTERRUPTED', 'Interrupted; nothing was written.');
}

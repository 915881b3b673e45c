/** A model that a process of its own keeps in memory: asked many things at once, each answer a stream. */
import { BraidError } from '../../errors.ts';
import { startRemedy } from '../../io/start-reason.ts';
import type { BackendChoice } from '../../trainer/backend/open-backend.ts';
import type { KeepModelJob } from '../../trainer/jobs/keep-model/job.ts';
import type { ModelParts } from '../../trainer/policy/model-parts.ts';
import type { AnswerEvent, AnswerRequest } from '../../trainer/protocol/answers.ts';
import type { JobEvent } from '../../trainer/protocol/trainer-events.ts';
import type { LaunchTrainer } from '../trainer-process/channel.ts';
import { describeExit, failedError, spawnTrainer } from '../trainer-process/process.ts';

export interface KeepModelOptions extends Pick<BackendChoice, 'backend' | 'threads' | 'kernelsFile'> {
  readonly model: ModelParts;
  /** The models that are asked the same elsewhere: all are used in one precision. */
  readonly beside?: readonly ModelParts[];
  readonly launch: LaunchTrainer;
  /** Ends the process while it is loading, and later. */
  readonly signal?: AbortSignal;
}

/** What is streamed of an answer: failures are thrown. */
export type AnswerPart = Exclude<AnswerEvent, { kind: 'failed' | 'done' }>;

export interface KeptModel {
  readonly backend: string;
  /** Why that backend was chosen. */
  readonly why: string;
  /** Tokens of a prompt and its completion. */
  readonly context: number;
  readonly hasChatTemplate: boolean;
  /**
   * Asks it; ends when all completions have. Leaving the stream, or `signal`, cancels the request and frees its rows.
   * Throws what was wrong with the request (kind 'input'), or that the process has ended.
   */
  ask(request: AnswerRequest, signal?: AbortSignal): AsyncGenerator<AnswerPart, void>;
  /** Ends the process, whatever it is doing. */
  stop(): Promise<void>;
  /** Resolves when the process has ended: with why, or null if it was stopped. Never rejects. */
  readonly ended: Promise<BraidError | null>;
}

/** A process silent for longer counts as hung and is killed. */
const SILENCE_MS = 10 * 60_000;

type Listener = (event: AnswerEvent) => void;

/** Starts a process for a model; resolves once it can be asked. */
export async function keepModel({ launch, signal, beside = [], ...given }: KeepModelOptions): Promise<KeptModel> {
  const listeners = new Map<number, Listener>();
  let ready: Extract<JobEvent, { kind: 'ready' }> | null = null;
  let failure: BraidError | null = null;
  let isStopped = false;
  /** Why nothing can be asked any more. */
  let gone: BraidError | null = null;
  let nextId = 1;
  const loaded = Promise.withResolvers<Extract<JobEvent, { kind: 'kept' }>>();
  const onEvents = (events: readonly unknown[]): void => {
    // A side job's process sends JobEvents only.
    for (const event of events as readonly JobEvent[]) {
      if (event.kind === 'ready') ready = event;
      if (event.kind === 'kept') loaded.resolve(event);
      if (event.kind === 'failed') failure = failedError(event);
      if (event.kind === 'answer') listeners.get(event.id)?.(event.event);
    }
  };
  const job: KeepModelJob = { kind: 'keep-model', beside, ...given };
  const trainer = spawnTrainer<KeepModelJob>(job, { launch, onEvents, silenceMs: SILENCE_MS });
  const stop = async (): Promise<void> => {
    isStopped = true;
    trainer.kill();
    await trainer.exited;
  };
  const onAbort = (): void => void stop();
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  const ended = trainer.exited.then((exit) => {
    signal?.removeEventListener('abort', onAbort);
    const error = isStopped ? null : (failure ?? died(describeExit(exit)));
    gone = error ?? stoppedError();
    loaded.reject(gone);
    const { code, message, remedy = null } = gone;
    for (const listener of listeners.values()) listener({ kind: 'failed', code, message, remedy, input: false });
    return error;
  });
  const { context, hasChatTemplate } = await loaded.promise;
  const { backend = '', why = '' } = (ready as Extract<JobEvent, { kind: 'ready' }> | null) ?? {};

  async function* ask(request: AnswerRequest, cancelled?: AbortSignal): AsyncGenerator<AnswerPart, void> {
    const id = nextId++;
    const heard: AnswerEvent[] = [];
    let wake: () => void = () => undefined;
    let isOver = false;
    listeners.set(id, (event) => {
      heard.push(event);
      wake();
    });
    const onCancel = (): void => wake();
    cancelled?.addEventListener('abort', onCancel);
    try {
      if (gone !== null) throw gone;
      trainer.send({ kind: 'ask', id, request });
      for (;;) {
        if (cancelled?.aborted) return;
        const event = heard.shift();
        if (event === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else if (event.kind === 'done' || event.kind === 'failed') {
          isOver = true;
          if (event.kind === 'failed') throw failedError(event);
          return;
        } else yield event;
      }
    } finally {
      listeners.delete(id);
      cancelled?.removeEventListener('abort', onCancel);
      if (!isOver) trainer.send({ kind: 'cancel', id });
    }
  }

  return { backend, why, context, hasChatTemplate, ask, stop, ended };
}

function died(reason: string): BraidError {
  return new BraidError('TRAINER_DIED', reason, {
    remedy: startRemedy(reason) ?? 'If memory ran out, use a smaller model or end other programs.',
  });
}

function stoppedError(): BraidError {
  return new BraidError('INTERRUPTED', 'The model was stopped');
}

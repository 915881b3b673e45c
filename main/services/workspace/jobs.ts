/** Long work other than runs: evaluations, datasets, imports. Each has progress, can be cancelled, and reports its end. */
import { BraidError } from '../../errors.ts';
import type { JobProgress } from '../trainer-process/job.ts';
import type { Changes } from './changes.ts';

export type JobState = 'running' | 'done' | 'failed' | 'cancelled';

export interface JobStatus {
  readonly id: number;
  /** Its title: "Evaluate tiny on 64 prompts". */
  readonly title: string;
  readonly kind: string;
  readonly state: JobState;
  readonly progress: JobProgress | null;
  /** The error of a failed one. */
  readonly error: { readonly code: string; readonly message: string; readonly remedy: string | null } | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

/** The work's context. */
export interface JobContext {
  readonly signal: AbortSignal;
  readonly progress: (progress: JobProgress) => void;
}

/** The context of work that the host lists. */
export interface ListedJobContext extends JobContext {
  /** Whether it was aborted because the host closes: nobody cancelled it, and a later one may resume it. */
  readonly isClosing: () => boolean;
}

export interface Jobs {
  /** Starts work; `result` resolves with its result or rejects with its error. */
  start<T>(kind: string, title: string, work: (context: ListedJobContext) => Promise<T>): StartedJob<T>;
  list(): readonly JobStatus[];
  cancel(id: number): boolean;
  /** Cancels all active jobs and waits for them to end. */
  close(): Promise<void>;
}

export interface StartedJob<T> {
  readonly id: number;
  readonly result: Promise<T>;
}

/** Maximum number of ended jobs listed. */
const REMEMBERED = 20;

/** Opens the list of jobs. */
export function openJobs(changes: Pick<Changes, 'publish'>, now: () => number = Date.now): Jobs {
  const jobs = new Map<number, JobStatus>();
  const controllers = new Map<number, AbortController>();
  const ends = new Map<number, Promise<unknown>>();
  let [lastId, isClosing] = [0, false];

  function update(id: number, change: Partial<JobStatus>): void {
    const job = jobs.get(id);
    if (job === undefined) return;
    jobs.set(id, { ...job, ...change });
    changes.publish('jobs');
  }

  async function run<T>(id: number, work: (context: ListedJobContext) => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      const value = await work({
        signal,
        progress: (progress) => update(id, { progress }),
        isClosing: () => isClosing,
      });
      update(id, { state: 'done', endedAt: now() });
      return value;
    } catch (error) {
      const state = signal.aborted ? 'cancelled' : 'failed';
      update(id, { state, endedAt: now(), error: state === 'failed' ? describe(error) : null });
      throw error;
    } finally {
      controllers.delete(id);
      ends.delete(id);
      forgetOld(jobs);
    }
  }

  return {
    start: (kind, title, work) => {
      const id = ++lastId;
      const controller = new AbortController();
      controllers.set(id, controller);
      const started = { id, title, kind, state: 'running', progress: null, error: null } as const;
      jobs.set(id, { ...started, startedAt: now(), endedAt: null });
      changes.publish('jobs');
      const result = run(id, work, controller.signal);
      // The caller may be gone by its end: the list shows the failure.
      ends.set(
        id,
        result.catch(() => undefined),
      );
      return { id, result };
    },
    list: () => [...jobs.values()].reverse(),
    cancel: (id) => {
      const controller = controllers.get(id);
      controller?.abort();
      return controller !== undefined;
    },
    close: async () => {
      isClosing = true;
      for (const controller of controllers.values()) controller.abort();
      await Promise.all(ends.values());
    },
  };
}

function describe(error: unknown): NonNullable<JobStatus['error']> {
  if (error instanceof BraidError) {
    return { code: error.code, message: error.message, remedy: error.remedy ?? null };
  }
  return { code: 'UNEXPECTED', message: error instanceof Error ? error.message : String(error), remedy: null };
}

function forgetOld(jobs: Map<number, JobStatus>): void {
  const ended = [...jobs.values()].filter(({ state }) => state !== 'running');
  for (const { id } of ended.slice(0, -REMEMBERED)) jobs.delete(id);
}

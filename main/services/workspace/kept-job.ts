/** A job whose page may be reloaded: asked for again, it is joined while it runs, and its result is there afterwards. */
import type { Jobs, StartedJob } from './jobs.ts';

/** How a page asks for such a job. */
export interface AskedFor<T> {
  /** Identifies what the result depends on. */
  readonly key: string;
  /** Whether the newest job will do, if it is of this key; otherwise another one is started. */
  readonly kept: boolean;
  readonly start: () => StartedJob<T>;
  readonly signal: AbortSignal | undefined;
}

export interface KeptJob<T> {
  result(asked: AskedFor<T>): Promise<T>;
}

/** Long enough for a page to be loaded again on a busy machine. */
const GRACE_MS = 20_000;

/** Keeps the newest one. A page that no longer wants the result cancels it at once; one that is gone, after a while. */
export function openKeptJob<T>(jobs: Pick<Jobs, 'cancel'>, graceMs = GRACE_MS): KeptJob<T> {
  interface Newest {
    readonly key: string;
    readonly job: StartedJob<T>;
    /** Pages that wait for it. */
    waiting: number;
  }
  let newest: Newest | null = null;

  function startAnother({ key, start }: AskedFor<T>): Newest {
    const started: Newest = { key, job: start(), waiting: 0 };
    newest = started;
    // What failed or was cancelled is tried again.
    started.job.result.catch(() => {
      if (newest === started) newest = null;
    });
    return started;
  }

  return {
    result: (asked) => {
      const { key, kept, signal } = asked;
      const found = kept && newest?.key === key ? newest : startAnother(asked);
      const { id, result } = found.job;
      found.waiting++;
      const leave = (): void => {
        found.waiting--;
        const cancel = (): void => void (found.waiting === 0 && jobs.cancel(id));
        if (isGone(signal)) setTimeout(cancel, graceMs).unref();
        else cancel();
      };
      if (signal?.aborted) leave();
      signal?.addEventListener('abort', leave, { once: true });
      return result.finally(() => signal?.removeEventListener('abort', leave));
    },
  };
}

/** A request that its page gave up has oRPC's error as the reason; one whose connection ended has the platform's. */
function isGone(signal: AbortSignal | undefined): boolean {
  return signal?.reason instanceof DOMException;
}

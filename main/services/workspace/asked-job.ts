/** A job that only the page that asked for it waits for. */
import type { Jobs, StartedJob } from './jobs.ts';

/** The job's result; a request that is aborted, or whose page is gone, cancels the job. */
export function resultWhileAsked<T>(
  jobs: Pick<Jobs, 'cancel'>,
  { id, result }: StartedJob<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const cancel = (): void => void jobs.cancel(id);
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel);
  return result.finally(() => signal?.removeEventListener('abort', cancel));
}

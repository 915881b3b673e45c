import { useMutation } from '@tanstack/react-query';
import { client } from '../api/client.ts';
import { failureOf } from '../api/failure.ts';

export interface CancelJobState {
  readonly cancel: () => void;
  /** Asked for and not refused: its process still has to end. */
  readonly isCancelling: boolean;
  /** Why the job was not cancelled; null: it was, or wasn't asked for. */
  readonly failure: string | null;
}

/** Cancels a job, and says why where that fails. */
export function useCancelJob(id: number): CancelJobState {
  const { mutate, isPending, isSuccess, error } = useMutation({ mutationFn: () => client.app.cancelJob({ id }) });
  const failure = error === null ? null : `Not cancelled: ${failureOf(error).message}`;
  return { cancel: () => mutate(), isCancelling: isPending || isSuccess, failure };
}

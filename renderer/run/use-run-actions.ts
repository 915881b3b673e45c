/** Actions on a run, and the error of the last one. */
import { useMutation } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { client } from '../api/client.ts';

export interface ResumeChoice {
  readonly checkpointId?: number;
  readonly maxSteps?: number;
}

export interface RunActions {
  readonly pause: () => void;
  readonly resume: (choice?: ResumeChoice) => void;
  readonly stop: () => void;
  readonly isBusy: boolean;
  readonly failure: { readonly what: string; readonly error: unknown } | null;
}

interface Request {
  readonly what: string;
  readonly work: () => Promise<unknown>;
}

export function useRunActions(runId: number): RunActions {
  const [failure, setFailure] = useState<RunActions['failure']>(null);
  const { mutate, isPending } = useMutation({
    mutationFn: ({ work }: Request) => work(),
    onMutate: () => setFailure(null),
    onError: (error, { what }) => setFailure({ what, error }),
  });
  return useMemo(() => {
    const action =
      (what: string, work: () => Promise<unknown>): (() => void) =>
      () =>
        mutate({ what, work });
    return {
      pause: action('The run could not be paused', () => client.runs.pause({ runId })),
      resume: (choice = {}) =>
        mutate({ what: 'The run could not be resumed', work: () => client.runs.resume({ runId, ...choice }) }),
      stop: action('The run could not be stopped', () => client.runs.stop({ runId })),
      isBusy: isPending,
      failure,
    };
  }, [runId, mutate, isPending, failure]);
}

/** The reply system's jobs: the running ones, starting more, and errors. */
import { useMutation, useQuery } from '@tanstack/react-query';
import type { JobStatus } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';

export interface ReplyWork {
  /** Running jobs, and the newest one if it failed. */
  readonly jobs: readonly JobStatus[];
  readonly isBusy: boolean;
  readonly failure: { readonly what: string; readonly error: unknown } | null;
  readonly begin: (what: string, start: () => Promise<unknown>) => void;
}

interface Request {
  readonly what: string;
  readonly start: () => Promise<unknown>;
}

export function useReplyWork(): ReplyWork {
  const { data: status } = useQuery(api.app.status.queryOptions());
  const { mutate, error, variables, isPending } = useMutation({ mutationFn: ({ start }: Request) => start() });
  const own = (status?.jobs ?? []).filter(({ kind }) => kind === 'replies');
  return {
    jobs: own.filter(({ state }, place) => state === 'running' || (state === 'failed' && place === 0)),
    isBusy: isPending || own.some(({ state }) => state === 'running'),
    failure: error === null || variables === undefined ? null : { what: variables.what, error },
    begin: (what, start) => mutate({ what, start }),
  };
}

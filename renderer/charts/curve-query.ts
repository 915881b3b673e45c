import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';

/** More would not be visible at the width of a panel. */
const BUCKETS = 200;
/** How often the curve of a run in training is refreshed. */
const EVERY_MS = 3000;

/** A run's reward as a curve: refreshed while it trains, and once more when it has ended or was rolled back. */
export function curveQuery({ id, state, step }: Pick<RunDetail, 'id' | 'state' | 'step'>) {
  const input = { runId: id, names: ['reward'], count: BUCKETS };
  return queryOptions({
    ...api.runs.buckets.queryOptions({ input }),
    queryKey: [...api.runs.buckets.key({ input }), state, step],
    placeholderData: keepPreviousData,
    refetchInterval: state === 'running' && EVERY_MS,
    refetchOnMount: state === 'running' ? 'always' : true,
  });
}

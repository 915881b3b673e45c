import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';

/** More would not be visible at the width of a panel. */
const BUCKETS = 200;
/** How often the curve of a run in training is refreshed. */
const EVERY_MS = 3000;

/** Whether a run trains on the dataset's answers: it samples nothing, so it has no rewards. */
export function isSupervised({ method }: Pick<RunDetail, 'method'>): boolean {
  return method === 'sft' || method === 'polychromic-sft';
}

/** What a run's curve shows. */
export function curveMetric(run: Pick<RunDetail, 'method'>): 'reward' | 'loss' {
  return isSupervised(run) ? 'loss' : 'reward';
}

/** A run's reward or loss as a curve: refreshed while it trains, and once more when it has ended or was rolled back. */
export function curveQuery({ id, state, step, method }: Pick<RunDetail, 'id' | 'state' | 'step' | 'method'>) {
  const input = { runId: id, names: [curveMetric({ method })], count: BUCKETS };
  return queryOptions({
    ...api.runs.buckets.queryOptions({ input }),
    queryKey: [...api.runs.buckets.key({ input }), state, step],
    placeholderData: keepPreviousData,
    refetchInterval: state === 'running' && EVERY_MS,
    refetchOnMount: state === 'running' ? 'always' : true,
  });
}

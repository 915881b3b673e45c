/** The link to Compare with the run's newest checkpoint against the model it started from, on the run's own dataset. */
import { useQuery } from '@tanstack/react-query';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { api } from '../api/client.ts';
import { comparisonOf } from './comparison.ts';

export interface ComparisonLink {
  /** Null while it is unknown, and where there is nothing to compare. */
  readonly href: string | null;
  /** Why it can't be known; null while that may change by itself. */
  readonly error: Error | null;
  readonly retry: () => void;
}

export function useComparison(detail: RunDetail): ComparisonLink {
  const models = useQuery(api.models.list.queryOptions());
  const datasets = useQuery(api.datasets.list.queryOptions());
  const isKnown = models.data !== undefined && datasets.data !== undefined;
  return {
    href: isKnown ? comparisonOf(detail, models.data, datasets.data) : null,
    error: isKnown ? null : (models.error ?? datasets.error),
    retry: () => void Promise.all([models.refetch(), datasets.refetch()]),
  };
}

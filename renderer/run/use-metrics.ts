import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../api/client.ts';
import { useChartGroup, type ZoomRange } from '../charts/ChartGroup.tsx';
import type { ChartSeries } from '../charts/series.ts';
import type { RunFeed } from './run-feed.ts';
import { type Look, metricSeries, stepsAround } from './series.ts';

/** Buckets per chart: about one per two pixels. */
const COUNT = 400;
/** Outdated chart data is dropped after this time. */
const FORGET_MS = 20_000;
/** Prefetched data this recent is not fetched again when the page opens. */
export const FRESH_MS = 1000;

/** Buckets of a run's metrics at this zoom. */
export function metricsQuery(runId: number, names: readonly string[], range: ZoomRange | null, generation: number) {
  const input = { runId, names: [...names], count: COUNT, ...(range !== null && { range: stepsAround(range) }) };
  return queryOptions({
    ...api.runs.buckets.queryOptions({ input }),
    queryKey: [...api.runs.buckets.key({ input }), generation],
    staleTime: FRESH_MS,
    gcTime: FORGET_MS,
  });
}

export interface ReadMetrics {
  readonly series: readonly ChartSeries[];
  /** Whether the host has answered. */
  readonly isRead: boolean;
  readonly error: unknown;
}

/** Metrics of a run as series, live, at the resolution of the zoom. Pass a stable `looks` object. */
export function useMetrics(feed: RunFeed, looks: Readonly<Record<string, Look>>): ReadMetrics {
  const { range } = useChartGroup();
  const names = useMemo(() => Object.keys(looks), [looks]);
  const isLive = feed.run.state === 'running' || feed.run.state === 'paused';
  const { data, error } = useQuery({
    ...metricsQuery(feed.run.id, names, range, feed.generation),
    placeholderData: keepPreviousData,
    // Steps that arrived while another screen was open are in no tail.
    refetchOnMount: isLive ? 'always' : true,
  });
  const { tail } = feed;
  const series = useMemo(
    () =>
      data === undefined
        ? []
        : Object.entries(looks).map(([name, look]) => metricSeries(name, look, data[name] ?? [], tail, range)),
    [data, looks, tail, range],
  );
  return { series, isRead: data !== undefined, error };
}

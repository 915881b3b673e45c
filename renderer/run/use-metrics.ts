import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../api/client.ts';
import { useChartGroup } from '../charts/ChartGroup.tsx';
import type { ChartSeries } from '../charts/series.ts';
import type { RunFeed } from './run-feed.ts';
import { type Look, metricSeries, stepsAround } from './series.ts';

/** Stretches a chart: about one for two pixels. */
const COUNT = 400;
/** Earlier generations of a chart's data are soon forgotten. */
const FORGET_MS = 20_000;

/** Metrics of a run as series, live, at the resolution of the zoom. Keep `looks` the same object. */
export function useMetrics(
  feed: RunFeed,
  looks: Readonly<Record<string, Look>>,
): { readonly series: readonly ChartSeries[]; readonly empty: string; readonly error: unknown } {
  const { range } = useChartGroup();
  const names = useMemo(() => Object.keys(looks), [looks]);
  const input = { runId: feed.run.id, names, count: COUNT, ...(range !== null && { range: stepsAround(range) }) };
  const { data, error } = useQuery({
    ...api.runs.buckets.queryOptions({ input }),
    queryKey: [...api.runs.buckets.key({ input }), feed.generation],
    placeholderData: keepPreviousData,
    // What came while another screen was on show is in no tail.
    refetchOnMount: 'always',
    gcTime: FORGET_MS,
  });
  const { tail } = feed;
  const series = useMemo(
    () =>
      data === undefined
        ? []
        : Object.entries(looks).map(([name, look]) => metricSeries(name, look, data[name] ?? [], tail, range)),
    [data, looks, tail, range],
  );
  return { series, empty: data === undefined ? '…' : 'No values yet', error };
}

/** A run's reward and held-out scores, or its loss, as a standalone chart, for screens that show a run beside other things. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { Failed } from '../components/Feedback.tsx';
import { ChartGroup } from './ChartGroup.tsx';
import { curveMetric, curveQuery } from './curve-query.ts';
import { LineChart } from './LineChart.tsx';
import { heldOutSeries, referenceLines } from './run-series.ts';
import type { ChartSeries } from './series.ts';

export interface RunCurveProps {
  readonly detail: RunDetail;
  /** By default what it shows. */
  readonly title?: string;
  readonly height: number;
}

const unit = [1];
const none: readonly number[] = [];

export function RunCurve({ detail, title, height }: RunCurveProps) {
  const { evaluations, baselineScore, stage } = detail;
  const metric = curveMetric(detail);
  const { data, error, refetch } = useQuery(curveQuery(detail));
  const series = useMemo((): readonly ChartSeries[] => {
    const values = data?.[metric] ?? [];
    const train: ChartSeries = {
      id: 'train',
      label: 'train',
      colour: 'strand-a',
      x: values.map(({ firstStep }) => firstStep),
      y: values.map(({ mean }) => mean),
      counts: values.map(({ count }) => count),
    };
    // A score has another scale than a loss.
    const all = metric === 'loss' ? [train] : [train, heldOutSeries(evaluations)];
    return all.filter(({ x }) => x.length > 0);
  }, [data, evaluations, metric]);
  const lines = useMemo(
    () => (metric === 'loss' ? [] : referenceLines(baselineScore, stage)),
    [metric, baselineScore, stage],
  );
  if (data === undefined && error !== null)
    return <Failed what="The curve can't be shown" error={error} onRetry={() => void refetch()} />;
  // Its own group: the preferred smoothing.
  return (
    <ChartGroup>
      <LineChart
        title={title ?? (metric === 'loss' ? 'Loss' : 'Reward')}
        series={series}
        lines={lines}
        include={metric === 'reward' && detail.task === 'interleave' ? unit : none}
        height={height}
      />
    </ChartGroup>
  );
}

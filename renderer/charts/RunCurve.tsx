/** A run's reward and held-out scores as a standalone chart, for screens that show a run beside other things. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { RunDetail } from '../../main/api/contract/index.ts';
import { Failed } from '../components/Feedback.tsx';
import { ChartGroup } from './ChartGroup.tsx';
import { curveQuery } from './curve-query.ts';
import { LineChart } from './LineChart.tsx';
import { heldOutSeries, referenceLines } from './run-series.ts';
import type { ChartSeries } from './series.ts';

export interface RunCurveProps {
  readonly detail: RunDetail;
  readonly title: string;
  readonly height: number;
}

const unit = [1];
const none: readonly number[] = [];

export function RunCurve({ detail, title, height }: RunCurveProps) {
  const { evaluations, baselineScore, stage } = detail;
  const { data, error, refetch } = useQuery(curveQuery(detail));
  const series = useMemo((): readonly ChartSeries[] => {
    const reward = data?.reward ?? [];
    const train: ChartSeries = {
      id: 'train',
      label: 'train',
      colour: 'strand-a',
      x: reward.map(({ firstStep }) => firstStep),
      y: reward.map(({ mean }) => mean),
    };
    return [train, heldOutSeries(evaluations)].filter(({ x }) => x.length > 0);
  }, [data, evaluations]);
  const lines = useMemo(() => referenceLines(baselineScore, stage), [baselineScore, stage]);
  if (data === undefined && error !== null)
    return <Failed what="The curve can't be shown" error={error} onRetry={() => void refetch()} />;
  // Its own group: the preferred smoothing.
  return (
    <ChartGroup>
      <LineChart
        title={title}
        series={series}
        lines={lines}
        include={detail.task === 'interleave' ? unit : none}
        height={height}
      />
    </ChartGroup>
  );
}

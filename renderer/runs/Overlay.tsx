/** Two to four runs overlaid in one chart, with their configuration differences. */
import { Button, Select } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { api } from '../api/client.ts';
import { ChartControls, ChartGroup, useChartGroup } from '../charts/ChartGroup.tsx';
import { LineChart } from '../charts/LineChart.tsx';
import type { ChartSeries } from '../charts/series.ts';
import { Failed } from '../components/Feedback.tsx';
import { Link } from '../components/Link.tsx';
import { Panel } from '../components/Screen.tsx';
import { metricSeries, stepsAround } from '../run/series.ts';
import { ConfigDiff } from './ConfigDiff.tsx';
import classes from './Runs.module.css';
import type { RunRowView } from './run-rows.ts';

export interface OverlayProps {
  readonly runIds: readonly number[];
  readonly rows: readonly RunRowView[];
  readonly onClear: () => void;
  readonly onRemove: (id: number) => void;
}

/** Distinguished by stroke as well as by colour. */
const looks = [
  { colour: 'strand-a', look: 'line' },
  { colour: 'strand-b', look: 'line' },
  { colour: 'ink', look: 'dashed' },
  { colour: 'soft', look: 'dotted' },
] as const;

const metrics = [
  { value: 'reward', label: 'Reward' },
  { value: 'reward_std', label: 'Reward spread' },
  { value: 'groups/dead', label: 'Dead groups' },
  { value: 'entropy', label: 'Entropy' },
  { value: 'kl', label: 'KL' },
  { value: 'loss', label: 'Loss' },
  { value: 'grad_norm', label: 'Gradient norm' },
  { value: 'completions/mean_length', label: 'Completion length' },
  { value: 'step_time', label: 'Step time' },
];

export function Overlay(props: OverlayProps) {
  const { runIds, rows, onClear, onRemove } = props;
  const [metric, setMetric] = useState('reward');
  const name = (id: number): string => rows.find((row) => row.id === id)?.name ?? `run ${id}`;
  const trains = (id: number): boolean => rows.find((row) => row.id === id)?.state === 'running';
  return (
    <ChartGroup>
      <div className={classes.overlay}>
        <Panel
          title={runIds.length === 1 ? 'Select another run to compare' : `${runIds.length} runs`}
          actions={
            <>
              <ChartControls />
              <Select
                aria-label="Metric"
                data={metrics}
                value={metric}
                allowDeselect={false}
                onChange={(value) => setMetric(value ?? 'reward')}
              />
              <Button variant="default" onClick={onClear}>
                Clear
              </Button>
            </>
          }
        >
          <OverlayChart runIds={runIds} name={name} trains={trains} metric={metric} />
        </Panel>
        {runIds.length > 1 && (
          <Panel title="Configuration differences">
            <ConfigDiff runIds={runIds} />
          </Panel>
        )}
        {runIds.length === 1 && (
          <Panel title="Selected">
            {runIds.map((id) => (
              <p key={id} className={classes.chosen}>
                <Link href={`/runs/${id}`}>{name(id)}</Link>{' '}
                <Button size="compact-xs" variant="subtle" onClick={() => onRemove(id)}>
                  Remove
                </Button>
              </p>
            ))}
          </Panel>
        )}
      </div>
    </ChartGroup>
  );
}

interface OverlayChartProps {
  readonly runIds: readonly number[];
  readonly name: (id: number) => string;
  readonly trains: (id: number) => boolean;
  readonly metric: string;
}

const COUNT = 300;
/** How often the curve of a run that trains is read again. */
const EVERY_MS = 3000;

function OverlayChart({ runIds, name, trains, metric }: OverlayChartProps) {
  const { range } = useChartGroup();
  const zoom = range === null ? {} : { range: stepsAround(range) };
  const { data, error } = useQueries({
    queries: runIds.map((runId) => ({
      ...api.runs.buckets.queryOptions({ input: { runId, names: [metric], count: COUNT, ...zoom } }),
      gcTime: 30_000,
      // Selected again, a run may have trained on; while it trains, its curve grows.
      staleTime: 0,
      refetchInterval: trains(runId) && EVERY_MS,
    })),
    combine: (results) => ({
      data: results.map((result) => result.data),
      error: results.find((result) => result.error !== null)?.error ?? null,
    }),
  });
  const series = useMemo(
    () =>
      runIds.map((runId, i): ChartSeries => {
        const look = { label: name(runId), ...(looks[i] ?? looks[0]) };
        return { ...metricSeries(metric, look, data[i]?.[metric] ?? [], [], range), id: `run-${runId}` };
      }),
    [runIds, name, metric, data, range],
  );
  if (error !== null) return <Failed what="The runs can't be overlaid" error={error} />;
  return (
    <LineChart title={metrics.find(({ value }) => value === metric)?.label ?? metric} series={series} height={210} />
  );
}

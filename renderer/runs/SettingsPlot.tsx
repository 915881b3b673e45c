/** The settings of the runs shown against a result, as a plot that filters the list below it. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { api } from '../api/client.ts';
import { ParallelCoordinates } from '../charts/ParallelCoordinates.tsx';
import { Choice } from '../components/Choice.tsx';
import { Failed, Loading } from '../components/Feedback.tsx';
import { Panel } from '../components/Screen.tsx';
import type { RunRowView } from './run-rows.ts';
import { plotData, type ResultId, results } from './settings-plot.ts';

export interface SettingsPlotProps {
  readonly rows: readonly RunRowView[];
  readonly onFilter: (ids: readonly number[] | null) => void;
  readonly onClose: () => void;
}

/** The most lines that are still readable, and settings that the host reads at once. */
const MOST_RUNS = 500;

export function SettingsPlot({ rows, onFilter, onClose }: SettingsPlotProps) {
  const [result, setResult] = useState<ResultId>('heldOut');
  const shown = useMemo(() => rows.slice(0, MOST_RUNS), [rows]);
  const runIds = useMemo(() => shown.map(({ id }) => id), [shown]);
  const { data, error } = useQuery(
    api.runs.settings.queryOptions({ input: { runIds }, placeholderData: (before) => before }),
  );
  // Below the chart of the runs selected it may open out of sight.
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    panel.current?.scrollIntoView();
    panel.current?.focus({ preventScroll: true });
  }, []);
  const plot = useMemo(() => (data === undefined ? null : plotData(shown, data, result)), [shown, data, result]);
  return (
    <Panel
      ref={panel}
      title="Settings against result"
      actions={
        <>
          <Choice aria-label="Result" data={results} value={result} onChange={setResult} width={150} />
          <Button variant="default" onClick={onClose}>
            Close the plot
          </Button>
        </>
      }
    >
      {error !== null && <Failed what="The settings can't be read" error={error} />}
      {plot === null && error === null && <Loading what="the settings" />}
      {plot !== null && plot.axes.length < 2 && (
        <p className="soft">These runs have the same settings: there is nothing to plot.</p>
      )}
      {plot !== null && plot.axes.length >= 2 && (
        <ParallelCoordinates axes={plot.axes} rows={plot.rows} onFilter={onFilter} />
      )}
      {rows.length > MOST_RUNS && <p className="faint">The newest {MOST_RUNS} runs are plotted.</p>}
    </Panel>
  );
}

/** A report's figures as charts of the app: results, training curves with their targets, and the size of the adapters. */
import { useMemo } from 'react';
import type { ChartData, ReportView } from '../../main/api/contract/index.ts';
import { ChartGroup } from '../charts/ChartGroup.tsx';
import { HeatMap } from '../charts/HeatMap.tsx';
import { LineChart } from '../charts/LineChart.tsx';
import { largest } from '../components/extremes.ts';
import { MeasureDots } from './MeasureDots.tsx';
import classes from './Replies.module.css';
import { normRows, type ReportChart, reportCharts } from './report-charts.ts';
import { mean } from './report-rows.ts';

export function ReportCharts({ report: { charts, numbers } }: { readonly report: ReportView }) {
  const all = useMemo(() => reportCharts(charts, numbers.task), [charts, numbers.task]);
  const results = all.filter(({ name }) => !name.startsWith('training_'));
  const curves = all.filter(({ name }) => name.startsWith('training_'));
  const norms = charts.find(({ name }) => name === 'lora_norms');
  return (
    <>
      <div className={classes.charts}>
        <MeasureDots numbers={numbers} />
        {results.map((chart) => (
          <Chart key={chart.name} chart={chart} />
        ))}
        <ChartGroup>
          {curves.map((chart) => (
            <Chart key={chart.name} chart={chart} />
          ))}
        </ChartGroup>
      </div>
      {norms !== undefined && <Norms norms={norms} />}
    </>
  );
}

function Chart({ chart: { name: _, ...chart } }: { readonly chart: ReportChart }) {
  return <LineChart {...chart} height={190} />;
}

function Norms({ norms }: { readonly norms: ChartData }) {
  const { columns, rows } = useMemo(() => normRows(norms), [norms]);
  const top = largest(
    rows.flatMap(({ values }) => values.flatMap((value) => value ?? [])),
    0,
  );
  return (
    <details className={classes.some}>
      <summary>Size of the adapters by layer and module</summary>
      <HeatMap
        caption="Frobenius norm of each adapter, by model, layer and module"
        corner="model and layer"
        columns={columns}
        rows={rows.map(({ label, values }) => ({
          key: label,
          label,
          cells: values.map((value, i) =>
            value === null
              ? null
              : {
                  text: mean(value),
                  shade: top > 0 ? value / top : 0,
                  about: `${label}, ${columns[i]}: ${value}`,
                },
          ),
        }))}
        ends={['0', mean(top)]}
      />
    </details>
  );
}

/** A chart's data as a table, for those who can't read the canvas. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import classes from './LineChart.module.css';
import { type Aligned, type ChartSeries, headsOf, seriesCsv } from './series.ts';

export interface ChartTableProps {
  readonly title: string;
  readonly xName: string;
  readonly series: readonly ChartSeries[];
  readonly aligned: Aligned;
  readonly format: (value: number) => string;
  readonly height: number;
}

export function ChartTable({ title, xName, series, aligned, format, height }: ChartTableProps) {
  const [copied, setCopied] = useState<'yes' | 'denied' | null>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(seriesCsv(xName, series, aligned));
      setCopied('yes');
    } catch {
      setCopied('denied');
    }
  };
  return (
    <section className={classes.table} style={{ height }} aria-label={`${title} as a table`} tabIndex={-1}>
      <table>
        <thead>
          <tr>
            {headsOf(xName, series).map((head, i) => (
              <th key={series[i - 1]?.id ?? 'x'} scope="col">
                {head}
              </th>
            ))}
            <th className={classes.copy}>
              <Button variant="subtle" size="compact-xs" onClick={() => void copy()}>
                {copied === 'yes' ? 'Copied' : 'Copy as CSV'}
              </Button>
              <span role="status" className="faint">
                {copied === 'denied' && 'Not copied: the browser denied access to the clipboard'}
              </span>
            </th>
          </tr>
        </thead>
        <tbody className="mono">
          {aligned.x.map((at, index) => (
            <tr key={at}>
              <td>{at}</td>
              {aligned.values.map((values, i) => {
                const value = values[index];
                return <td key={series[i]?.id ?? i}>{value === null || value === undefined ? '' : format(value)}</td>;
              })}
              <td />
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

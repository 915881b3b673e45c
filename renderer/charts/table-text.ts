/** A chart's data as CSV. Pure. */
import type { Aligned, ChartSeries } from './series.ts';

/** Full precision, one row per x value, empty cells where a series has no value. */
export function asCsv(xName: string, series: readonly Pick<ChartSeries, 'label'>[], aligned: Aligned): string {
  const head = [xName, ...series.map(({ label }) => label)].map(quoted).join(',');
  const rows = aligned.x.map((at, index) => [at, ...aligned.values.map((values) => values[index] ?? '')].join(','));
  return [head, ...rows, ''].join('\n');
}

function quoted(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The sizes of adapters as rows of a map: a row for each model and layer, a column for each module. Pure. */
import type { ChartData } from '../../main/api/contract/index.ts';
import { modelLabel } from './report-rows.ts';

export interface NormRows {
  readonly columns: readonly string[];
  readonly rows: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
}

export function normRows({ rows }: Pick<ChartData, 'rows'>): NormRows {
  const columns = [...new Set(rows.map(([, , module]) => String(module)))];
  const places = new Map<string, Map<string, number>>();
  for (const [model, layer, module, norm] of rows) {
    const label = `${modelLabel(String(model))}, ${layer}`;
    const values = places.get(label) ?? new Map<string, number>();
    if (typeof norm === 'number') values.set(String(module), norm);
    places.set(label, values);
  }
  return {
    columns,
    rows: [...places].map(([label, values]) => ({ label, values: columns.map((name) => values.get(name) ?? null) })),
  };
}

/** A sweep as lines of a parallel-coordinates plot: one for each setting with a score. Pure. */
import type { SweepView } from '../../main/api/contract/index.ts';
import type { AxisValue, ParallelRow } from '../charts/parallel.ts';
import { scoreName } from './score-name.ts';

/** Null with fewer than two settings to compare, and for one list of names, which the table shows as well. */
export function linesOf({ rows, fields, scoreKind }: Pick<SweepView, 'rows' | 'fields' | 'scoreKind'>): {
  readonly axes: readonly string[];
  readonly rows: readonly ParallelRow[];
} | null {
  const scored = rows.filter(({ mean }) => mean !== null);
  const [field, ...others] = fields;
  const isList =
    field !== undefined && others.length === 0 && rows.every(({ values }) => typeof values[field] === 'string');
  if (scored.length < 2 || isList) return null;
  return {
    axes: [...fields, scoreName(scoreKind)],
    rows: scored.map(({ setting, label, values, mean }) => ({
      id: setting,
      name: label,
      values: [...fields.map((field) => axisValue(values[field])), mean],
    })),
  };
}

function axisValue(value: unknown): AxisValue {
  if (typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') return value;
  return value === null || value === undefined ? null : JSON.stringify(value);
}

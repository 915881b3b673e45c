/** The axes and lines of the plot of settings against a result. Pure. */
import type { VariedSettings } from '../../main/api/contract/index.ts';
import type { ParallelRow } from '../charts/parallel.ts';
import type { RunRowView } from './run-rows.ts';

export const results = [
  { value: 'heldOut', label: 'Held-out score' },
  { value: 'gain', label: 'Gain' },
  { value: 'reward', label: 'Reward' },
  { value: 'seconds', label: 'Duration (s)' },
] as const;

export type ResultId = (typeof results)[number]['value'];

/** Where a run lies and what it is evaluated on follow from its dataset. */
const HIDDEN: readonly string[] = ['eval_dataset'];
/** More axes than fit a screen say less. */
const MOST_AXES = 12;

/** An axis for each setting that differs, then the result. */
export function plotData(
  rows: readonly RunRowView[],
  { fields, values }: VariedSettings,
  result: ResultId,
): { readonly axes: readonly string[]; readonly rows: readonly ParallelRow[] } {
  const shown = fields.flatMap((name, i) => (HIDDEN.includes(name) ? [] : [{ name, i }])).slice(0, MOST_AXES);
  const label = results.find(({ value }) => value === result)?.label ?? result;
  return {
    axes: [...shown.map(({ name }) => name), label],
    rows: rows.flatMap((row) => {
      const own = values[row.id];
      return own === undefined
        ? []
        : [{ id: row.id, name: row.name, values: [...shown.map(({ i }) => own[i] ?? null), row[result]] }];
    }),
  };
}

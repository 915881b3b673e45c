/** The prompts of a comparison as rows: gains, order, filters. Pure. */
import type { PromptRow } from '../../main/api/contract/index.ts';
import { folded } from '../components/folded.ts';

export type RowFilter = 'all' | 'wins' | 'ties' | 'losses' | 'newly exact' | 'no longer exact';
export type RowOrder = 'gain' | 'loss' | 'score' | 'baseline' | 'dataset';

export const rowFilters: readonly RowFilter[] = ['all', 'wins', 'ties', 'losses', 'newly exact', 'no longer exact'];

export const rowOrders: readonly { readonly value: RowOrder; readonly label: string }[] = [
  { value: 'gain', label: 'Largest gain first' },
  { value: 'loss', label: 'Largest loss first' },
  { value: 'score', label: 'Lowest score first' },
  { value: 'baseline', label: 'Lowest baseline first' },
  { value: 'dataset', label: 'Dataset order' },
];

/** Scores this close are a tie, as on the host. */
const TIE = 1e-9;

/** Score of the model at `position` minus the baseline's; null if either has none. */
export function gainOf(row: PromptRow, position: number): number | null {
  const [before, after] = [row.scores[0] ?? null, row.scores[position] ?? null];
  return before === null || after === null ? null : after - before;
}

/** Whether a row passes a filter for the model at `position`. */
function passes(row: PromptRow, position: number, filter: RowFilter): boolean {
  const gain = gainOf(row, position);
  const [before = false, after = false] = [row.exact[0], row.exact[position]];
  switch (filter) {
    case 'all':
      return true;
    case 'wins':
      return gain !== null && gain > TIE;
    case 'ties':
      return gain !== null && Math.abs(gain) <= TIE;
    case 'losses':
      return gain !== null && gain < -TIE;
    case 'newly exact':
      return after && !before;
    case 'no longer exact':
      return before && !after;
  }
}

export interface RowChoice {
  /** The selected model; 0 is the baseline. */
  readonly position: number;
  readonly filter: RowFilter;
  readonly order: RowOrder;
  /** Part of an id or a title. */
  readonly search: string;
  /** A half-open range of gains, from a bar of the histogram. */
  readonly gains: { readonly from: number; readonly to: number } | null;
}

/** The rows that match, in the chosen order. */
export function chooseRows(rows: readonly PromptRow[], choice: RowChoice): readonly PromptRow[] {
  const { position, filter, order, search, gains } = choice;
  const wanted = folded(search.trim());
  const chosen = rows.filter((row) => {
    if (!passes(row, position, filter)) return false;
    if (wanted !== '' && !folded(`${row.id} ${row.titles.join(' ')}`).includes(wanted)) return false;
    const gain = gainOf(row, position);
    return gains === null || (gain !== null && gain >= gains.from && gain < gains.to);
  });
  if (order === 'dataset') return chosen;
  const key = (row: PromptRow): number | null => {
    if (order === 'score') return row.scores[position] ?? null;
    if (order === 'baseline') return row.scores[0] ?? null;
    const gain = gainOf(row, position);
    return gain === null || order === 'loss' ? gain : -gain;
  };
  // Rows without a key go last.
  return chosen.toSorted((a, b) => (key(a) ?? Number.POSITIVE_INFINITY) - (key(b) ?? Number.POSITIVE_INFINITY));
}

/** All known gains. */
export function gainsOf(rows: readonly PromptRow[], position: number): readonly number[] {
  return rows.flatMap((row) => gainOf(row, position) ?? []);
}

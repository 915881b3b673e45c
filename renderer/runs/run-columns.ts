/** The columns of the run list, and what they are sorted by. Pure. */
import type { RunRowView } from './run-rows.ts';

export type ColumnId =
  | 'id'
  | 'name'
  | 'state'
  | 'step'
  | 'shape'
  | 'reward'
  | 'held-out'
  | 'gain'
  | 'dataset'
  | 'model'
  | 'method'
  | 'duration'
  | 'cost'
  | 'started';

export interface Column {
  readonly id: ColumnId;
  readonly header: string;
  /** What the column is sorted by; missing values sort as the lowest. */
  readonly by?: (run: RunRowView) => number | string;
}

const LOWEST = Number.NEGATIVE_INFINITY;

export const columns: readonly Column[] = [
  { id: 'id', header: 'Id', by: ({ id }) => id },
  { id: 'name', header: 'Run', by: ({ name }) => name },
  { id: 'state', header: 'State', by: ({ state }) => state },
  { id: 'step', header: 'Steps', by: ({ step }) => step },
  { id: 'shape', header: 'Reward over time' },
  { id: 'reward', header: 'Reward', by: ({ reward }) => reward ?? LOWEST },
  { id: 'held-out', header: 'Held-out', by: ({ heldOut }) => heldOut ?? LOWEST },
  { id: 'gain', header: 'Gain', by: ({ gain }) => gain ?? LOWEST },
  { id: 'dataset', header: 'Dataset', by: ({ dataset }) => dataset },
  { id: 'model', header: 'Model', by: ({ model }) => model },
  { id: 'method', header: 'Method', by: ({ method }) => method },
  { id: 'duration', header: 'Duration', by: ({ seconds }) => seconds ?? LOWEST },
  { id: 'cost', header: 'Cost', by: ({ seconds }) => seconds ?? LOWEST },
  { id: 'started', header: 'Started', by: ({ createdAt }) => createdAt },
];

/**
 * Those shown until the user chooses, and the window's width (CSS pixels) from which on. In a tight space the name gets
 * the room: it includes the dataset, and what tells runs apart is often at its end. What goes is on the run's own page.
 */
const defaults: readonly (readonly [ColumnId, number])[] = [
  ['name', 0],
  ['state', 0],
  ['step', 0],
  ['shape', 1000],
  ['reward', 0],
  ['held-out', 0],
  ['gain', 1151],
  ['dataset', 1321],
  ['started', 1151],
];

export function defaultColumns(width: number): readonly ColumnId[] {
  return defaults.flatMap(([id, from]) => (width >= from ? id : []));
}

export interface Sorting {
  readonly column: string;
  readonly direction: 'ascending' | 'descending';
}

/** The sorting after another click on a column header: descending, ascending, none. */
export function nextSorting(sorting: Sorting | null, column: string): Sorting | null {
  if (sorting?.column !== column) return { column, direction: 'descending' };
  return sorting.direction === 'descending' ? { column, direction: 'ascending' } : null;
}

const words = new Intl.Collator(undefined, { numeric: true });

/** A stable sort. */
export function sortRows(rows: readonly RunRowView[], sorting: Sorting | null): readonly RunRowView[] {
  const by = columns.find(({ id }) => id === sorting?.column)?.by;
  if (by === undefined) return rows;
  const turn = sorting?.direction === 'descending' ? -1 : 1;
  return rows.toSorted((a, b) => turn * compare(by(a), by(b)));
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === 'string' && typeof b === 'string') return words.compare(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

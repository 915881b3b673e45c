/** The columns of the run list, and what they are sorted by. */
import { type ColumnDef, createSortedRowModel, rowSortingFeature, sortFns, tableFeatures } from '@tanstack/react-table';
import type { RunRowView } from './run-rows.ts';

interface Column {
  readonly id: string;
  readonly header: string;
  /** What the column is sorted by; missing values sort as the lowest. */
  readonly by?: (run: RunRowView) => number | string;
}

const LOWEST = Number.NEGATIVE_INFINITY;

const described: readonly Column[] = [
  { id: 'name', header: 'Run', by: ({ id }) => id },
  { id: 'state', header: 'State', by: ({ state }) => state },
  { id: 'step', header: 'Steps', by: ({ step }) => step },
  { id: 'shape', header: 'Reward over time' },
  { id: 'reward', header: 'Reward', by: ({ reward }) => reward ?? LOWEST },
  { id: 'held-out', header: 'Held-out', by: ({ heldOut }) => heldOut ?? LOWEST },
  { id: 'gain', header: 'Gain', by: ({ gain }) => gain ?? LOWEST },
  { id: 'dataset', header: 'Dataset', by: ({ dataset }) => dataset },
  { id: 'started', header: 'Started', by: ({ createdAt }) => createdAt },
];

/** What the table can do: sort. */
export const features = tableFeatures({ rowSortingFeature, sortedRowModel: createSortedRowModel(), sortFns });

export const columns: ColumnDef<typeof features, RunRowView>[] = described.map(({ id, header, by }) => ({
  id,
  header,
  ...(by === undefined ? { enableSorting: false } : { accessorFn: by }),
  sortDescFirst: true,
}));

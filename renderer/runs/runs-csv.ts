/** The list of runs as CSV: the columns that are shown, each with its exact value. Pure. */
import { type CsvCell, csvText } from '../components/csv.ts';
import type { ColumnId } from './run-columns.ts';
import type { RunRowView } from './run-rows.ts';

type CsvColumn = readonly [header: string, value: (row: RunRowView) => CsvCell];

/** A column of the list may be several in the file; the curve has none. */
const byColumn: Readonly<Record<ColumnId, readonly CsvColumn[]>> = {
  id: [],
  name: [['name', ({ name }) => name]],
  state: [['state', ({ state }) => state]],
  step: [
    ['step', ({ step }) => step],
    ['max_steps', ({ maxSteps }) => maxSteps],
  ],
  shape: [],
  reward: [['reward', ({ reward }) => reward]],
  'held-out': [['held_out', ({ heldOut }) => heldOut]],
  gain: [
    ['baseline', ({ baseline }) => baseline],
    ['gain', ({ gain }) => gain],
  ],
  dataset: [['dataset', ({ dataset }) => dataset]],
  model: [['model', ({ model }) => model]],
  method: [['method', ({ method }) => method]],
  duration: [['seconds', ({ seconds }) => seconds]],
  cost: [['cost', ({ cost }) => cost]],
  started: [['created_at', ({ createdAt }) => new Date(createdAt).toISOString()]],
};

/** One line for each row, in their order; the id and the tags are always there. */
export function runsCsv(rows: readonly RunRowView[], shown: readonly ColumnId[]): string {
  const columns: readonly CsvColumn[] = [
    ['id', ({ id }) => id],
    ...shown.flatMap((id) => byColumn[id]),
    ['stage', ({ stage }) => stage],
    ['tags', ({ tags }) => tags.join(' ')],
  ];
  return csvText([columns.map(([header]) => header), ...rows.map((row) => columns.map(([, value]) => value(row)))]);
}

/** Which rows of a table are imported, and on which side: filters, sample, duplicates, split by group. Pure. */
import { inputError } from '../../../errors.ts';
import { hashString, randomStream, shuffled } from '../../../random.ts';
import { didYouMean, nearestName } from '../../../text/nearest-name.ts';
import { valueAt } from './mapping.ts';
import type { Row } from './table.ts';

export interface Filter {
  readonly column: string;
  /** As text. */
  readonly value: string;
}

/** Rows in which every filter's column has its value. */
export function filterRows(rows: readonly Row[], filters: readonly Filter[], columns: readonly string[]): Row[] {
  for (const { column } of filters) requireColumn(column, columns);
  return rows.filter(({ values }) => filters.every(({ column, value }) => asText(valueAt(values, column)) === value));
}

/** `count` rows by the seed, in the order of the file. */
export function sampleRows<T>(rows: readonly T[], count: number | null, seed: number): readonly T[] {
  if (count === null || rows.length <= count) return rows;
  const chosen = new Set(shuffled([...rows.keys()], randomStream(seed, hashString('import-sample'))).slice(0, count));
  return rows.filter((_, i) => chosen.has(i));
}

/** A row with the record that it becomes. */
export interface Mapped {
  readonly row: Row;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Without those whose fields, apart from the id, are the same as an earlier one's. */
export function withoutDuplicates(mapped: readonly Mapped[]): Mapped[] {
  const seen = new Set<string>();
  return mapped.filter(({ fields: { id: _, ...fields } }) => {
    const key = JSON.stringify(fields);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

export interface SplitChoice {
  /** Rows with the same value of this column stay on one side; null: each row by itself. */
  readonly by: string | null;
  /** Held-out share of the rows. */
  readonly share: number;
  readonly seed: number;
}

/** Divides rows into training and held-out ones, whole groups on either side. */
export function splitRows(mapped: readonly Mapped[], { by, share, seed }: SplitChoice, columns: readonly string[]) {
  if (by !== null) requireColumn(by, columns);
  const keyOf = ({ row }: Mapped, i: number): string => (by === null ? String(i) : asText(valueAt(row.values, by)));
  const groups = Map.groupBy(mapped.keys(), (i) => {
    const one = mapped[i];
    return one === undefined ? '' : keyOf(one, i);
  });
  const wanted = Math.round(mapped.length * share);
  const held = new Set<number>();
  for (const key of shuffled([...groups.keys()].sort(), randomStream(seed, hashString('import-split')))) {
    if (held.size >= wanted) break;
    const rows = groups.get(key) ?? [];
    // The last group on the training side stays there: a dataset without training records is none.
    if (held.size + rows.length < mapped.length) for (const i of rows) held.add(i);
  }
  return { train: mapped.filter((_, i) => !held.has(i)), test: mapped.filter((_, i) => held.has(i)) };
}

function requireColumn(column: string, columns: readonly string[]): void {
  const [top = ''] = column.split('.');
  if (columns.includes(column) || columns.includes(top)) return;
  throw inputError(
    'BAD_COLUMN',
    `There is no column "${column}"${didYouMean(nearestName(column, columns))}`,
    `The columns are ${columns.join(', ')}.`,
  );
}

function asText(value: unknown): string {
  return typeof value === 'object' ? (JSON.stringify(value) ?? '') : String(value ?? '');
}

/** Rows of the database as records, by a table that describes the columns of their fields. */
import { type ColumnKind, type StoredColumn, snakeCase } from '../samples/sample.ts';
import { fromNull, parseNumbers } from './columns.ts';
import { storedList } from './json.ts';

type Value = string | number | null;

/** A row as SQLite has it, by the names of its columns. */
export type RecordRow = Readonly<Record<string, Value>>;

/** Of the kinds that aren't kept as they are. */
const readers: Readonly<Partial<Record<ColumnKind, (stored: Value) => unknown>>> = {
  number: (stored) => fromNull(stored as number | null),
  flag: (stored) => stored === 1,
  numbers: (stored) => parseNumbers(stored as string),
  messages: (stored) => storedList(stored as string, 'a list of messages'),
};

function write(kind: ColumnKind, value: unknown): Value {
  if (value === undefined || value === null) return null;
  if (kind === 'flag') return value ? 1 : 0;
  return kind === 'numbers' || kind === 'messages' ? JSON.stringify(value) : (value as Value);
}

/** `R`'s fields with their columns. */
export type RecordColumns<R> = { readonly [Name in keyof R]-?: StoredColumn };

export function recordRows<R extends object>(described: RecordColumns<R>, table: string) {
  const fields = Object.entries<StoredColumn>(described).map(([name, stored]) => {
    const { kind, column = snakeCase(name), optional = false } = stored;
    return { ...{ name, kind, column, optional }, read: readers[kind] };
  });
  const names = fields.map(({ column }) => column);
  return {
    names,
    /** For `select … from` that table. */
    selected: names.map((column) => `${table}.${column}`).join(', '),
    /** For `insert`, where a row's values are bound by name. */
    bound: names.map((column) => `@${column}`).join(', '),
    toRow(record: R): RecordRow {
      const row: Record<string, Value> = {};
      for (const { name, kind, column } of fields) row[column] = write(kind, record[name as keyof R]);
      return row;
    },
    fromRow(row: RecordRow): R {
      const record: Record<string, unknown> = {};
      for (const { name, column, optional, read } of fields) {
        const stored = row[column] as Value;
        if (optional && stored === null) continue;
        record[name] = read === undefined ? stored : read(stored);
      }
      return record as R;
    },
  };
}

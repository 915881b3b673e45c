/** The records in a JSON file: a list of objects, or what pandas and the Hub write of a table. */
import { isJsonObject } from '../../../io/json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Items that should be records, or what is wrong with the shape. */
export type JsonRecords = { readonly items: readonly unknown[] } | { readonly fault: string };

const WRITE = 'write a list of objects, one for each record (pandas: `orient="records"`)';

/** Finds the records of a parsed file. */
export function recordsInJson(value: unknown): JsonRecords {
  if (Array.isArray(value)) return listOf(value);
  if (!isJsonObject(value)) return { fault: `expected a list of objects; ${WRITE}` };
  const entries = Object.entries(value);
  const { columns, data } = value;
  if (Array.isArray(columns) && Array.isArray(data) && data.every(Array.isArray)) return splitTable(columns, data);
  const lists = entries.flatMap(([name, list]) => (Array.isArray(list) ? [{ name, list: list as unknown[] }] : []));
  const ofObjects = lists.filter(({ list }) => list.some(isJsonObject));
  const [only, second] = ofObjects;
  const isColumns = lists.length === entries.length && new Set(lists.map(({ list }) => list.length)).size === 1;
  if (second !== undefined) {
    const names = ofObjects.map(({ name }) => `"${name}"`).join(' and ');
    return { fault: `expected one list of objects, got ${names}; write each into a file of its own` };
  }
  if (only !== undefined && isColumns && lists.length > 1)
    return { fault: `expected either the list of objects "${only.name}" or columns, got both; ${WRITE}` };
  if (only !== undefined) return listOf(only.list);
  if (entries.some(([, one]) => isJsonObject(one) && (one.file_name ?? one.hf_hub_url) !== undefined))
    return { fault: "expected records, got LLaMA-Factory's list of datasets; import the files that it names" };
  if (isColumns && lists.length > 0) return { items: zipped(lists.map(({ name, list }) => [name, list] as const)) };
  return tableOfObjects(value, entries);
}

function listOf(list: readonly unknown[]): JsonRecords {
  if (list.length > 0 && list.every(Array.isArray))
    return { fault: `expected a list of objects, got a list of lists, which have no names; ${WRITE}` };
  return { items: list };
}

/** `{"columns": ["a", "b"], "index": [0], "data": [[1, 2]]}` */
function splitTable(columns: readonly unknown[], data: readonly (readonly unknown[])[]): JsonRecords {
  const names = columns.map(String);
  if (new Set(names).size < names.length) return { fault: `expected each column once, got ${names.join(', ')}` };
  const bad = data.findIndex((row) => row.length !== names.length);
  if (bad >= 0)
    return { fault: `expected ${names.length} values for each row, got ${data[bad]?.length} in row ${bad + 1}` };
  return { items: data.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]]))) };
}

/** `{"a": {"0": 1}, "b": {"0": 2}}`, or by rows `{"0": {"a": 1, "b": 2}}`: the row's names are numbers. */
function tableOfObjects(value: Fields, entries: readonly (readonly [string, unknown])[]): JsonRecords {
  const objects = entries.flatMap(([name, one]) => (isJsonObject(one) ? [[name, one] as const] : []));
  if (objects.length === 0 || objects.length < entries.length)
    return { fault: `expected a list of objects, got an object with ${named(Object.keys(value))}; ${WRITE}` };
  const areNumbers = (names: readonly string[]): boolean =>
    names.length > 0 && names.every((name) => /^\d+$/.test(name));
  const byRow = areNumbers(Object.keys(value));
  const byColumn = objects.every(([, inside]) => areNumbers(Object.keys(inside)));
  if (byRow === byColumn)
    return {
      fault: `expected a list of objects, got objects of which nobody knows whether ${named(Object.keys(value))} are rows or columns; ${WRITE}`,
    };
  if (byRow) return { items: objects.map(([, row]) => row) };
  const rows = new Map<string, Record<string, unknown>>();
  for (const [name, column] of objects)
    for (const [row, field] of Object.entries(column)) {
      const fields = rows.get(row) ?? {};
      Object.defineProperty(fields, name, { value: field, enumerable: true, configurable: true, writable: true });
      rows.set(row, fields);
    }
  return { items: [...rows.values()] };
}

function zipped(columns: readonly (readonly [string, readonly unknown[]])[]): Fields[] {
  const [first] = columns;
  return (first?.[1] ?? []).map((_, i) => Object.fromEntries(columns.map(([name, list]) => [name, list[i]])));
}

function named(names: readonly string[]): string {
  if (names.length === 0) return 'no fields';
  const shown = names.slice(0, 3).map((name) => `"${name.slice(0, 40)}"`);
  return `${shown.join(', ')}${names.length > shown.length ? ' …' : ''}`;
}

/** Column lists: SQL says `run_id`, our rows say `runId`. */
import { storedObject } from './json.ts';

/** `columns('id', 'run_id')` is `id, run_id as "runId"`; optionally prefixed with a table name or alias. */
export function columns(names: readonly string[], table = ''): string {
  const prefix = table === '' ? '' : `${table}.`;
  return names.map((name) => `${prefix}${name} as "${camelCase(name)}"`).join(', ');
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** SQLite has no NaN: it is stored as null and read back as NaN. */
export function fromNull(value: number | null): number {
  return value ?? Number.NaN;
}

/** JSON has neither NaN nor infinities: they are stored as null and read back as NaN. */
export function parseNumbers(json: string): Readonly<Record<string, number>> {
  const parsed = storedObject(json, 'a record of numbers') as Record<string, number | null>;
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, fromNull(value)]));
}

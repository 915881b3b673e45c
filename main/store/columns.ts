/** Column lists: SQL says `run_id`, our rows say `runId`. */

/** `columns('id', 'run_id')` is `id, run_id as "runId"`; a table's name or alias may go in front. */
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

/** JSON has neither NaN nor infinities: they are left as null in the text and read back as NaN. */
export function parseNumbers(json: string): Readonly<Record<string, number>> {
  const parsed = JSON.parse(json) as Record<string, number | null>;
  return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [name, fromNull(value)]));
}

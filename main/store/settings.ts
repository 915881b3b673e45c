/** Settings of the workspace: JSON values under a name. */
import type { Db } from './open.ts';

/** A damaged setting counts as not set: every start of the app reads some. */
function parsed(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return undefined;
  }
}

/** Statements of the table `setting`. */
export function openSettingsTable(db: Db) {
  const read = db.prepare<[string], string>('select value from setting where key = ?').pluck();
  const write = db.prepare<[string, string]>(
    'insert into setting (key, value) values (?, ?) on conflict (key) do update set value = excluded.value',
  );
  const all = db.prepare<[], { key: string; value: string }>('select key, value from setting order by key');
  const remove = db.prepare<[string]>('delete from setting where key = ?');

  return {
    /** The stored value, for the caller to validate; undefined if there is none, or none that can be read. */
    get(key: string): unknown {
      const value = read.get(key);
      return value === undefined ? undefined : parsed(value);
    },
    set: (key: string, value: unknown): void => void write.run(key, JSON.stringify(value ?? null)),
    list: (): Readonly<Record<string, unknown>> =>
      Object.fromEntries(all.all().map((row) => [row.key, parsed(row.value)])),
    remove: (key: string): boolean => remove.run(key).changes === 1,
  } as const;
}

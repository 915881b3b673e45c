/** Settings of the workspace: JSON values under a name. */
import type { Db } from './open.ts';

/** Statements of the table `setting`. */
export function openSettingsTable(db: Db) {
  const read = db.prepare<[string], string>('select value from setting where key = ?').pluck();
  const write = db.prepare<[string, string]>(
    'insert into setting (key, value) values (?, ?) on conflict (key) do update set value = excluded.value',
  );
  const all = db.prepare<[], { key: string; value: string }>('select key, value from setting order by key');
  const remove = db.prepare<[string]>('delete from setting where key = ?');

  return {
    /** The value as it was stored, for the caller to check; undefined where there is none. */
    get(key: string): unknown {
      const value = read.get(key);
      return value === undefined ? undefined : (JSON.parse(value) as unknown);
    },
    set: (key: string, value: unknown): void => void write.run(key, JSON.stringify(value ?? null)),
    list: (): Readonly<Record<string, unknown>> =>
      Object.fromEntries(all.all().map((row) => [row.key, JSON.parse(row.value) as unknown])),
    remove: (key: string): boolean => remove.run(key).changes === 1,
  } as const;
}

export type SettingsTable = ReturnType<typeof openSettingsTable>;

/** A workspace that was moved or copied: absolute paths that led into it lead into its new place. */
import { statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import type { Db } from './open.ts';

/** The setting that says where the workspace was when it was last opened. */
const KEY = 'folder';

/** Columns that are such a path. */
const PATHS = [
  ['run', 'model'],
  ['run', 'dataset'],
  ['dataset', 'file'],
  ['evaluation', 'model'],
  ['evaluation', 'dataset'],
] as const;

/** Columns of JSON in which it may be a value. */
const OBJECTS = [
  ['run', 'config_json'],
  ['stage', 'config_json'],
  ['queued_run', 'config_json'],
  ['sweep', 'plan_json'],
  ['sweep_trial', 'config_json'],
  ['setting', 'value'],
] as const;

/** Notes where the database at `file` is, and changes what still leads to where it was. */
export function followMove(db: Db, file: string): void {
  const folder = dirname(file);
  const before = lastFolder(db);
  if (before === folder) return;
  db.transaction(() => {
    // The same place under another name may be called by the old one again.
    if (before !== null && !isSameFile(join(before, basename(file)), file))
      changePrefix(db, within(before), within(folder));
    db.prepare('insert or replace into setting (key, value) values (?, ?)').run(KEY, JSON.stringify(folder));
  }).immediate();
}

function lastFolder(db: Db): string | null {
  const value = db.prepare<[string], string>('select value from setting where key = ?').pluck().get(KEY);
  try {
    const folder: unknown = JSON.parse(value ?? 'null');
    return typeof folder === 'string' && isAbsolute(folder) ? folder : null;
  } catch {
    return null;
  }
}

function isSameFile(first: string, second: string): boolean {
  const [a, b] = [first, second].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

function within(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep;
}

function changePrefix(db: Db, old: string, now: string): void {
  for (const [table, column] of PATHS)
    db.prepare(
      `update or ignore ${table} set ${column} = @now || substr(${column}, length(@old) + 1)
       where substr(${column}, 1, length(@old)) = @old`,
    ).run({ old, now });
  // A JSON text that begins with it: its closing quote is left out.
  const [from, to] = [old, now].map((path) => JSON.stringify(path).slice(0, -1));
  for (const [table, column] of OBJECTS)
    db.prepare(`update ${table} set ${column} = replace(${column}, @from, @to) where instr(${column}, @from) > 0`).run({
      from,
      to,
    });
}

/** A folder of the host, as a page browses it. */
import { type Dirent, existsSync, readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inputError } from '../../errors.ts';
import { errorCode } from '../../io/atomic-write.ts';
import { folded } from '../../text/folded.ts';

export interface FolderEntry {
  readonly name: string;
  readonly path: string;
  readonly isFolder: boolean;
  /** Whether a folder has the file that is searched for: it is a model, or a task. */
  readonly isWanted: boolean;
  /** Of a file. */
  readonly bytes: number | null;
}

export interface ListedFolder {
  readonly folder: string;
  /** null: the top of the disk. */
  readonly parent: string | null;
  readonly entries: readonly FolderEntry[];
  /** How many more there are. */
  readonly more: number;
}

export interface Looked {
  /** Endings of the files to list: `.gguf`. */
  readonly endings: readonly string[];
  /** The file by which a folder is recognised. */
  readonly sign: string | null;
}

/** What one answer lists; a filter finds the others. */
const MOST = 2000;

/** What is at a path. Throws FOLDER_MISSING where nothing is, FOLDER_DENIED where the system doesn't let us look. */
export function whatIsAt(path: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? ''))
      throw inputError('FOLDER_MISSING', `There is nothing at ${path}`, `The nearest folder is ${nearest(path)}.`);
    throw denied(path, error);
  }
}

/** Lists its folders, then its files with these endings, by name; hidden ones are left out. */
export function listFolder(
  folder: string,
  { endings, sign, filter = '' }: Looked & { readonly filter?: string },
): ListedFolder {
  const wanted = folded(filter);
  const entries = namesIn(folder)
    .filter(({ name }) => !name.startsWith('.') && folded(name).includes(wanted))
    .flatMap((entry) => described(folder, entry, endings));
  const sorted = entries.sort((a, b) => Number(b.isFolder) - Number(a.isFolder) || collator.compare(a.name, b.name));
  const parent = dirname(folder);
  return {
    folder,
    parent: parent === folder ? null : parent,
    entries: sorted.slice(0, MOST).map((entry) => ({ ...entry, isWanted: isSigned(entry, sign) })),
    more: Math.max(0, sorted.length - MOST),
  };
}

const collator = new Intl.Collator('en', { numeric: true });

function isSigned({ isFolder, path }: Omit<FolderEntry, 'isWanted'>, sign: string | null): boolean {
  return isFolder && sign !== null && existsSync(join(path, sign));
}

function namesIn(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    throw denied(folder, error);
  }
}

/** None for what can't be followed, and for files that nobody asked for. */
function described(folder: string, entry: Dirent, endings: readonly string[]): Omit<FolderEntry, 'isWanted'>[] {
  const { name } = entry;
  const path = join(folder, name);
  if (entry.isDirectory()) return [{ name, path, isFolder: true, bytes: null }];
  const fits = endings.some((ending) => name.toLowerCase().endsWith(ending));
  if (!fits && !entry.isSymbolicLink()) return [];
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return [{ name, path, isFolder: true, bytes: null }];
  return fits && stats?.isFile() ? [{ name, path, isFolder: false, bytes: stats.size }] : [];
}

function nearest(path: string): string {
  const parent = dirname(path);
  return parent === path || existsSync(parent) ? parent : nearest(parent);
}

function denied(path: string, cause: unknown): Error {
  const error = inputError(
    'FOLDER_DENIED',
    `The system doesn't let Braid read ${path} (${errorCode(cause)})`,
    'Give this user permission to read it, or choose another folder.',
  );
  return Object.assign(error, { cause });
}

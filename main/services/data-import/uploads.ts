/** Files that a page hands in to be imported: on the disk while their columns are mapped, gone after it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, extname, join } from 'node:path';
import { inputError } from '../../errors.ts';
import { nameFault } from '../../io/foreign-name.ts';
import { isPacked, unpackedName } from '../../io/packed-file.ts';

export interface Uploads {
  /** Keeps a file; returns its id. */
  keep(name: string, content: Uint8Array): number;
  /** Keeps files that lie somewhere already, such as a download, without copying them. */
  refer(files: readonly string[]): number;
  get(id: number): readonly string[];
  drop(id: number): void;
  close(): void;
}

/** Those of closed pages must not stay for ever. */
const KEPT = 6;

/** `.csv`; none if it isn't plain. */
function plainEnding(name: string): string {
  const plain = name.replace(/[. ]+$/, '');
  const ending = extname(unpackedName(plain)) + (isPacked(plain) ? extname(plain) : '');
  return /^(?:\.\w{1,16}){1,2}$/.test(ending) ? ending : '';
}

/** Opens an empty set. */
export function openUploads(): Uploads {
  const held = new Map<number, { readonly files: readonly string[]; readonly folder: string | null }>();
  let lastId = 0;
  const drop = (id: number): void => {
    const folder = held.get(id)?.folder ?? null;
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
    held.delete(id);
  };
  const hold = (files: readonly string[], folder: string | null): number => {
    held.set(++lastId, { files, folder });
    for (const old of [...held.keys()].slice(0, -KEPT)) drop(old);
    return lastId;
  };
  return {
    keep: (name, content) => {
      const folder = mkdtempSync(join(tmpdir(), 'braid-import-'));
      mkdirSync(folder, { recursive: true });
      // A page's file may be called what this system doesn't allow: its ending says what it is.
      const base = basename(name);
      const file = join(folder, nameFault(base) === null ? base : `file${plainEnding(base)}`);
      writeFileSync(file, content, { mode: 0o600 });
      return hold([file], folder);
    },
    refer: (files) => hold(files, null),
    get: (id) => {
      const found = held.get(id);
      if (found !== undefined) return found.files;
      throw inputError('IMPORT_GONE', 'This import has expired; nothing was imported', 'Choose the file again.');
    },
    drop,
    close: () => {
      for (const id of [...held.keys()]) drop(id);
    },
  };
}

/** Files that a page hands in to be imported: on the disk while their columns are mapped, gone after it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { inputError } from '../../errors.ts';

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
      const file = join(folder, basename(name));
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

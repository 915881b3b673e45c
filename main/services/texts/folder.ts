/** The files of a folder that may contain texts. Symbolic links aren't followed: they may lead out of it, or in circles. */
import { type Dirent, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { FileFault } from '../../io/text-file.ts';
import { type Collected, MAX_MEMBERS, mayHoldTexts } from './archive.ts';

export interface NamedPath {
  readonly name: string;
  readonly path: string;
}

/** Lists a folder with its subfolders, by name. */
export function readFolder(folder: string): Collected<NamedPath> {
  const files: NamedPath[] = [];
  const faults: FileFault[] = [];
  let others = 0;
  const waiting = [{ name: basename(folder), path: folder }];
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    for (const entry of entriesOf(next, faults)) {
      const at = { name: `${next.name}/${entry.name}`, path: join(next.path, entry.name) };
      if (entry.isDirectory() && !entry.name.startsWith('.')) waiting.push(at);
      else if (entry.isFile() && mayHoldTexts(entry.name)) files.push(at);
      else others++;
      if (files.length + others + waiting.length <= MAX_MEMBERS) continue;
      const reason = `has more than ${MAX_MEMBERS} files; import the folder with the texts, or its parts`;
      return { files: [], others: 0, faults: [{ file: basename(folder), line: null, reason }] };
    }
  }
  return { files, others, faults };
}

function entriesOf({ name, path }: NamedPath, faults: FileFault[]): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    const reason = `can't be read (${(error as NodeJS.ErrnoException).code})`;
    faults.push({ file: name, line: null, reason });
    return [];
  }
}

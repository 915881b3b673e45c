/** A folder as an archive for a cluster: what Ray calls a working directory. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { type Member, makeZip } from '../../io/make-zip.ts';
import { formatBytes } from '../../text/format.ts';

/** Never part of a program, and often large. */
const LEFT_OUT = new Set(['.git', '.venv', 'venv', '__pycache__', 'node_modules', '.DS_Store']);
/** What Ray's own client uploads at most. */
const MAX_BYTES = 100 * 2 ** 20;

/** All regular files of a folder, without links. Throws where it is none, or too large to be meant. */
export function packFolder(folder: string): Buffer {
  const members: Member[] = [];
  let bytes = 0;
  const visit = (relative: string): void => {
    for (const entry of readdirSync(join(folder, relative), { withFileTypes: true })) {
      const name = relative === '' ? entry.name : `${relative}/${entry.name}`;
      if (LEFT_OUT.has(entry.name)) continue;
      if (entry.isDirectory()) visit(name);
      if (!entry.isFile()) continue;
      bytes += statSync(join(folder, name)).size;
      if (bytes > MAX_BYTES)
        throw inputError(
          'FOLDER_TOO_LARGE',
          `${folder}: expected at most ${formatBytes(MAX_BYTES)} to upload`,
          'Leave data and weights out: the cluster should fetch them itself.',
        );
      members.push({ name, content: readFileSync(join(folder, name)) });
    }
  };
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw inputError('FOLDER_UNKNOWN', `${folder}: expected a folder to upload, there is none`);
  visit('');
  if (members.length === 0) throw inputError('FOLDER_EMPTY', `${folder}: expected files to upload, there are none`);
  return makeZip(members.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
}

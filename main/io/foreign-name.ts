/**
 * The one rule for names of files and folders, those that somebody else wrote in a listing, an archive or an index and
 * those that the user chooses: on every system they name one file inside the folder that they are put in, also after a
 * workspace has moved to another system.
 */
import { join } from 'node:path';
import { inputError } from '../errors.ts';

/** Devices on Windows, whatever ending follows. */
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\.|$)/i;
const MAX_BYTES = 255;

/** What keeps a name from being that of a file on every system; null: nothing. */
export function nameFault(name: string): string | null {
  if (name === '') return 'is empty';
  if (name === '.' || name === '..') return 'leads to a folder';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it searches for.
  if (/[\u0000-\u001f\u007f]/.test(name)) return 'contains a control character';
  const special = /[<>:"|?*\\/]/.exec(name)?.[0];
  if (special !== undefined) return `contains ${special}`;
  if (/[. ]$/.test(name)) return 'ends with a dot or a space';
  if (RESERVED.test(name)) return 'is the name of a device on Windows';
  return Buffer.byteLength(name) > MAX_BYTES ? `is longer than ${MAX_BYTES} bytes` : null;
}

/** The same for a path below a folder, with `/` between its parts. */
export function pathFault(path: string): string | null {
  for (const part of path.split('/')) {
    const fault = nameFault(part);
    if (fault !== null) return `${JSON.stringify(part.slice(0, 100))} ${fault}`;
  }
  return null;
}

/** The parts of a foreign path; one that could leave its folder anywhere is refused. `from`: what it stands in. */
export function foreignParts(path: string, from: string): readonly string[] {
  const fault = pathFault(path);
  if (fault === null) return path.split('/');
  throw inputError(
    'BAD_FILE_NAME',
    `${from}: expected names of files that every system allows, got ${JSON.stringify(path.slice(0, 200))}, in which ${fault}`,
    'Nothing was written under that name. Rename the file where it comes from, or use another source.',
  );
}

/** Where a foreign path lies below `folder`. */
export function foreignPlace(folder: string, path: string, from: string): string {
  return join(folder, ...foreignParts(path, from));
}

/** Refuses a name that somebody chose for a folder or a file, where not every system allows it. */
export function checkPortableName(name: string, code: string): string {
  const fault = nameFault(name);
  if (fault === null) return name;
  throw inputError(
    code,
    `The name "${name.slice(0, 100)}" ${fault}, so that not every system allows it`,
    'Choose another name.',
  );
}

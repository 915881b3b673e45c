/** Limits pages to the workspace and to what the user has opened to the app. */
import { isAbsolute, relative, sep } from 'node:path';
import { inputError } from '../errors.ts';
import { realPath } from '../io/real-path.ts';
import type { PathAccess } from './context.ts';

/** Access to the given folders, and to what is allowed later; `remedy` says how. */
export function openPathAccess(
  base: string,
  folders: readonly string[],
  remedy = 'Choose it in the dialog, or start braid serve with --allow FOLDER.',
): PathAccess {
  const allowed = new Set(folders.map((folder) => realPath(folder, base)));
  return {
    allow: (path) => void allowed.add(realPath(path, base)),
    check: (path) => {
      const wanted = followed(path, base);
      if (wanted !== null && [...allowed].some((folder) => contains(folder, wanted))) return wanted;
      throw inputError('PATH_OUTSIDE', `Expected a path inside ${[...allowed].join(' or ')}, got ${path}`, remedy);
    },
  };
}

function contains(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/** Null where the system can't follow the path: a circle of links, a folder that it doesn't let us into, a NUL. */
function followed(path: string, base: string): string | null {
  try {
    return realPath(path, base);
  } catch {
    return null;
  }
}

/** Limits pages to the workspace and to what the user has opened to the app. */
import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { inputError } from '../errors.ts';
import type { PathAccess } from './context.ts';

/** Access to the given folders, and to what is allowed later; `remedy` says how. */
export function openPathAccess(
  base: string,
  folders: readonly string[],
  remedy = 'Choose it in the dialog, or start braid serve with --allow FOLDER.',
): PathAccess {
  const allowed = new Set(folders.map(real));
  return {
    allow: (path) => void allowed.add(real(resolve(base, path))),
    check: (path) => {
      const wanted = real(resolve(base, path));
      if ([...allowed].some((folder) => contains(folder, wanted))) return wanted;
      throw inputError('PATH_OUTSIDE', `Expected a path inside ${[...allowed].join(' or ')}, got ${path}`, remedy);
    },
  };
}

function contains(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/** The real path, with symbolic links resolved as far as it exists. */
function real(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  const parent = dirname(path);
  return parent === path ? path : join(real(parent), relative(parent, path));
}

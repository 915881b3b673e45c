/** Limits pages to the workspace and to what the user has opened to the app. */
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { inputError } from '../errors.ts';
import { fromHome } from '../io/from-home.ts';
import { realPath } from '../io/real-path.ts';
import type { AllowedFolders } from '../services/workspace/allowed-folders.ts';
import { secretsFile } from '../services/workspace/secrets.ts';
import type { PathAccess } from './context.ts';

export interface PathAccessOptions {
  /** How a path is opened. */
  readonly remedy?: string;
  /** Where the user's folders are kept; they are open from the start. */
  readonly kept?: AllowedFolders;
  /** The user's own configuration: keys and agreements are no page's, even in a folder that is open. */
  readonly own?: string;
}

const REMEDY = 'Choose it with Browse, and allow its folder when asked.';

/** Access to the given folders, to those that were kept, and to what is allowed later. */
export function openPathAccess(
  base: string,
  folders: readonly string[],
  { remedy = REMEDY, kept, own: owned = dirname(secretsFile()) }: PathAccessOptions = {},
): PathAccess {
  const own = realPath(owned, base);
  const allowed = new Set(folders.map((folder) => realPath(folder, base)));
  const agreed = new Set(kept === undefined ? [] : keptIn(kept));
  const isOpen = (path: string): boolean =>
    [...allowed, ...agreed].some((folder) => contains(folder, path) && (!contains(own, path) || contains(own, folder)));
  /** Of a path that is inside by its name. */
  const leads = (path: string, wanted: string | null): string =>
    wanted !== null && isOpen(resolve(base, fromHome(path))) ? `, whose links lead to ${wanted}` : '';
  return {
    allow: (path) => void allowed.add(realPath(path, base)),
    check: (path) => {
      const wanted = followed(path, base);
      if (wanted !== null && isOpen(wanted)) return wanted;
      throw inputError(
        'PATH_OUTSIDE',
        `Expected a path inside ${[...allowed, ...agreed].join(' or ')}, got ${path}${leads(path, wanted)}`,
        remedy,
      );
    },
    locate: (path) => {
      const at = followed(path, base);
      if (at === null)
        throw inputError('PATH_LOST', `${path} can't be followed: its links lead in a circle or are too many`);
      return { at, isOpen: isOpen(at), isOwn: contains(own, at) };
    },
    keep: (folder) => {
      kept?.change((now) => [...now.filter((one) => one.folder !== folder), { folder, at: new Date().toISOString() }]);
      agreed.add(folder);
    },
    kept: () => [...agreed],
    forget: (folder) => {
      kept?.change((now) => now.filter((one) => one.folder !== folder));
      agreed.delete(folder);
    },
  };
}

/** Where a folder has since become a link to another, nobody has allowed that one. */
function keptIn(kept: AllowedFolders): string[] {
  try {
    return kept.read().flatMap(({ folder }) => (followed(folder, folder) === folder ? [folder] : []));
  } catch {
    // What can't be read opens nothing; the next folder that is allowed says why.
    return [];
  }
}

function contains(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/** Null where the system can't follow the path: a circle of links, a folder that it doesn't let us into, a NUL. */
function followed(path: string, base: string): string | null {
  try {
    return realPath(fromHome(path), base);
  } catch {
    return null;
  }
}

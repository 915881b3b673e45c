/** Where a path leads, as the system would follow it: also through links to what isn't there yet. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, resolve } from 'node:path';
import { errorCode } from './atomic-write.ts';

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/**
 * The absolute path without links and `..`; a part that doesn't exist stays as it is named. Throws what the system does
 * for a path that it can't follow.
 */
export function realPath(path: string, base: string): string {
  const whole = isAbsolute(path) ? path : `${resolve(base)}/${path}`;
  let at = resolve(parse(whole).root);
  let ahead = partsOf(whole.slice(parse(whole).root.length));
  let links = 0;
  let isThere = true;
  while (ahead.length > 0) {
    const [part = '', ...rest] = ahead;
    ahead = rest;
    if (part === '..') {
      at = dirname(at);
      isThere = true;
      continue;
    }
    const next = join(at, part);
    const target: string | true | null = isThere ? linkTarget(next) : null;
    if (typeof target !== 'string') {
      isThere = target !== null;
      at = next;
      continue;
    }
    if (++links > MAX_LINKS) throw Object.assign(new Error(`ELOOP: ${path}`), { code: 'ELOOP', syscall: 'realpath' });
    const { root } = parse(target);
    if (root !== '') at = resolve(at, root);
    ahead = [...partsOf(target.slice(root.length)), ...rest];
  }
  return canonical(at);
}

function partsOf(path: string): string[] {
  return path.split(process.platform === 'win32' ? /[\\/]/ : '/').filter((part) => part !== '' && part !== '.');
}

/** The target of a link; true: it is something else; null: there is nothing. */
function linkTarget(path: string): string | true | null {
  try {
    return lstatSync(path).isSymbolicLink() ? readlinkSync(path) : true;
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

/** The spelling of what exists, on systems to which capitals make no difference. */
function canonical(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(canonical(parent), path.slice(parent.length));
  }
}

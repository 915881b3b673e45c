/** The file of the built page for a URL; null: none. Nothing outside the page's folder can be reached. */
import { isAbsolute, join, relative, sep } from 'node:path';

/** The page's only scheme, host and origin on the desktop. */
export const PAGE_SCHEME = 'app';
const PAGE_HOST = 'braid';
export const PAGE_ORIGIN = `${PAGE_SCHEME}://${PAGE_HOST}`;
export const PAGE_URL = `${PAGE_ORIGIN}/index.html`;

/** The file in `folder` for a URL. */
export function pageFile(folder: string, address: string): string | null {
  const url = URL.parse(address);
  if (url?.protocol !== `${PAGE_SCHEME}:` || url.host !== PAGE_HOST) return null;
  const path = decoded(url.pathname);
  if (path === null || path.includes('\0')) return null;
  const file = join(folder, path);
  const inside = relative(folder, file);
  const isInside = inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
  return isInside ? file : null;
}

function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** Where the page is, all of it behind the `#`: `#/samples?run=7&step=140`. wouter's own keeps the search before it. */
import { useSyncExternalStore } from 'react';

export interface HashPlace {
  readonly path: string;
  /** Without its question mark. */
  readonly search: string;
}

/** Takes a hash apart. */
export function readHash(hash: string): HashPlace {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s, 2);
  return { path: `/${path}`, search };
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener);
  return () => window.removeEventListener('hashchange', listener);
}

function navigate(to: string, { replace = false }: { readonly replace?: boolean | undefined } = {}): void {
  const url = new URL(window.location.href);
  url.hash = to.replace(/^#/, '');
  if (!replace) {
    window.location.hash = url.hash;
    return;
  }
  window.history.replaceState(null, '', url);
  window.dispatchEvent(new Event('hashchange'));
}

/** For wouter's `<Router hook>`. */
export function useHashPath(): [string, typeof navigate] {
  return [useSyncExternalStore(subscribe, () => readHash(window.location.hash).path), navigate];
}

useHashPath.hrefs = (href: string): string => `#${href}`;
useHashPath.searchHook = (): string => useSyncExternalStore(subscribe, () => readHash(window.location.hash).search);

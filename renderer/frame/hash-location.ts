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

const listeners = new Set<() => void>();

// All in one event listener: between two of them React would draw, and mount a screen under its predecessor's key first.
function tellAll(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener('hashchange', tellAll);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('hashchange', tellAll);
  };
}

/** Goes there. To set the hash would be told of only after another frame. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean | undefined } = {}): void {
  const url = new URL(window.location.href);
  url.hash = to.replace(/^#/, '');
  if (replace) window.history.replaceState(null, '', url);
  else if (url.href !== window.location.href) window.history.pushState(null, '', url);
  tellAll();
}

/** For wouter's `<Router hook>`. */
export function useHashPath(): [string, typeof navigate] {
  return [useSyncExternalStore(subscribe, () => readHash(window.location.hash).path), navigate];
}

useHashPath.hrefs = (href: string): string => `#${href}`;
useHashPath.searchHook = (): string => useSyncExternalStore(subscribe, () => readHash(window.location.hash).search);

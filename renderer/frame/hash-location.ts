/**
 * The page's location, all of it behind the `#`: `#/samples?run=7&step=140`. wouter's own hook keeps the query string
 * in front of it.
 */
import { useSyncExternalStore } from 'react';

export interface HashPlace {
  readonly path: string;
  /** Without its question mark. */
  readonly search: string;
}

/** Parses a hash. */
export function readHash(hash: string): HashPlace {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s, 2);
  return { path: `/${path}`, search };
}

/** Prefetches what a location shows first and never rejects; undefined if it needs no data. */
export type Prefetch = (path: string) => Promise<unknown> | undefined;

/**
 * How long the previous screen stays up at most while the next one's data is prefetched. Rendering a loading state
 * would take about as long as most prefetches.
 */
const MAX_WAIT_MS = 100;

const listeners = new Set<() => void>();
let prefetch: Prefetch = () => undefined;
/** The hash of the location shown; null before the first. */
let shown: string | null = null;

/** Makes navigation wait for prefetches from now on. */
export function setPrefetch(fetch: Prefetch): void {
  prefetch = fetch;
}

/** Prefetches a location that the user is about to open. */
export function prefetchLocation(to: string): void {
  void prefetch(readHash(to).path);
}

/** The location shown. It lags behind the address while a prefetch is pending. */
export function place(): HashPlace {
  shown ??= window.location.hash;
  return readHash(shown);
}

/** Shows the location in the address. */
function follow(): void {
  const { hash } = window.location;
  const { path } = readHash(hash);
  const ready = path === place().path ? undefined : prefetch(path);
  if (ready === undefined) show(hash);
  else void Promise.race([ready, new Promise((timeout) => setTimeout(timeout, MAX_WAIT_MS))]).then(() => show(hash));
}

// Notify all listeners in one go: React could otherwise render between two of them and mount a screen under its
// predecessor's key.
function show(hash: string): void {
  // The user has navigated elsewhere in the meantime.
  if (hash !== window.location.hash) return;
  shown = hash;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) window.addEventListener('hashchange', follow);
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('hashchange', follow);
  };
}

/** Navigates. Setting the hash instead would fire its event a frame later. */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean | undefined } = {}): void {
  const url = new URL(window.location.href);
  url.hash = to.replace(/^#/, '');
  if (replace) window.history.replaceState(null, '', url);
  else if (url.href !== window.location.href) window.history.pushState(null, '', url);
  follow();
}

/** For wouter's `<Router hook>`. */
export function useHashPath(): [string, typeof navigate] {
  return [useSyncExternalStore(subscribe, () => place().path), navigate];
}

useHashPath.hrefs = (href: string): string => `#${href}`;
useHashPath.searchHook = (): string => useSyncExternalStore(subscribe, () => place().search);

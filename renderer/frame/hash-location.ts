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

/** Fetches what a place shows first, and never rejects; undefined: nothing needs to be there. */
export type Opening = (path: string) => Promise<unknown> | undefined;

/**
 * At the longest, for which the place before stays on show while the next one's opening is fetched: to draw that it is
 * being loaded takes as long as most openings.
 */
const HELD_MS = 100;

const listeners = new Set<() => void>();
let opening: Opening = () => undefined;
/** The hash of the place on show; null before the first. */
let shown: string | null = null;

/** Has places wait for their openings from now on. */
export function openWith(fetch: Opening): void {
  opening = fetch;
}

/** Fetches the opening of a place that someone is about to go to. */
export function openAhead(to: string): void {
  void opening(readHash(to).path);
}

/** The place on show: that of the address, but for the moment in which it is opened. */
export function place(): HashPlace {
  shown ??= window.location.hash;
  return readHash(shown);
}

/** Shows the place of the address. */
function follow(): void {
  const { hash } = window.location;
  const { path } = readHash(hash);
  const ready = path === place().path ? undefined : opening(path);
  if (ready === undefined) show(hash);
  else void Promise.race([ready, new Promise((held) => setTimeout(held, HELD_MS))]).then(() => show(hash));
}

// All in one go: between two listeners React would draw, and mount a screen under its predecessor's key first.
function show(hash: string): void {
  // Someone has gone elsewhere in the meantime.
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

/** Goes there. To set the hash would be told of only after another frame. */
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

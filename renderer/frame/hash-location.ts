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

/** Calls the listener after each change of the location shown; returns what unsubscribes it. */
export function subscribe(listener: () => void): () => void {
  const isFirst = listeners.size === 0;
  listeners.add(listener);
  if (isFirst) {
    window.addEventListener('hashchange', followAddress);
    // Changed between the first render and this: the event has passed.
    if (shown !== null && shown !== window.location.hash) follow();
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) window.removeEventListener('hashchange', followAddress);
  };
}

/** Asks whether the location may be left, if something would be lost; `leave` then leaves it. Returns whether it asks. */
export type LeaveGuard = (leave: () => void) => boolean;

const guards = new Set<LeaveGuard>();

/** Lets a guard ask before each navigation, until the returned function is called. */
export function guardLocation(guard: LeaveGuard): () => void {
  guards.add(guard);
  return () => void guards.delete(guard);
}

/** Whether a guard asks before `leave` may be called. */
const asks = (leave: () => void): boolean => [...guards].some((guard) => guard(leave));

export interface NavigateOptions {
  readonly replace?: boolean | undefined;
}

/** Navigates, unless a guard asks first. */
export function navigate(to: string, options: NavigateOptions = {}): void {
  const isElsewhere = addressOf(to).href !== window.location.href;
  if (!isElsewhere || !asks(() => go(to, options))) go(to, options);
}

/** The path of the screen that the user is on. */
export function currentPath(): string {
  return readHash(window.location.hash).path;
}

/** Navigates once the request of a screen is answered, unless the user has left that screen meanwhile. */
export function navigateFrom(screen: string, to: string): void {
  if (currentPath() === screen) navigate(to);
}

function addressOf(to: string): URL {
  const url = new URL(window.location.href);
  url.hash = to.replace(/^#/, '');
  return url;
}

// Setting the hash instead would fire its event a frame later.
function go(to: string, { replace = false }: NavigateOptions = {}): void {
  const url = addressOf(to);
  if (replace) window.history.replaceState(null, '', url);
  else if (url.href !== window.location.href) window.history.pushState(null, '', url);
  follow();
}

/** After Back, Forward or a typed address. It has changed already: while a guard asks, it is that of the location shown. */
export function followAddress(): void {
  const { hash } = window.location;
  if (hash !== shown && asks(() => go(hash))) go(shown ?? '');
  else follow();
}

/** For wouter's `<Router hook>`. */
export function useHashPath(): [string, typeof navigate] {
  return [useSyncExternalStore(subscribe, () => place().path), navigate];
}

useHashPath.hrefs = (href: string): string => `#${href}`;
useHashPath.searchHook = (): string => useSyncExternalStore(subscribe, () => place().search);

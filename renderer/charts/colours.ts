/** The theme's colours for canvases, which can't use CSS variables. Cached until the colour scheme changes. */
import type { ChartColour } from './series.ts';

export type Token = ChartColour | 'line' | 'line-strong' | 'paper' | 'panel';

let known = new Map<Token, string>();
const listeners = new Set<() => void>();

/** The colour's current value. */
export function colourOf(token: Token): string {
  const found = known.get(token);
  if (found !== undefined) return found;
  const value = getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim();
  known.set(token, value);
  return value;
}

/** Calls the listener when the colours change; returns an unsubscribe function. */
export function onColoursChange(listener: () => void): () => void {
  if (listeners.size === 0) {
    known = new Map();
    observer.observe(document.documentElement, { attributeFilter: [SCHEME] });
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    observer.disconnect();
    // The scheme may change before the next chart is made, and nobody would notice.
    known = new Map();
  };
}

const SCHEME = 'data-mantine-color-scheme';

const observer = new MutationObserver(() => {
  known = new Map();
  for (const listener of listeners) listener();
});

/** The theme's colours for canvases, which know no CSS variables: read once, and anew when light and dark change. */
import type { ChartColour } from './series.ts';

export type Token = ChartColour | 'line' | 'line-strong' | 'paper' | 'panel';

let known = new Map<Token, string>();
const listeners = new Set<() => void>();

/** The colour as the page has it now. */
export function colourOf(token: Token): string {
  const found = known.get(token);
  if (found !== undefined) return found;
  const value = getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim();
  known.set(token, value);
  return value;
}

/** Calls the listener when the colours have changed; gives the way to stop. */
export function onColoursChange(listener: () => void): () => void {
  if (listeners.size === 0) observer.observe(document.documentElement, { attributeFilter: [SCHEME] });
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) observer.disconnect();
  };
}

const SCHEME = 'data-mantine-color-scheme';

const observer = new MutationObserver(() => {
  known = new Map();
  for (const listener of listeners) listener();
});

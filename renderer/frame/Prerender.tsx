/**
 * Renders screens once outside the document while the app is idle: the first render of a screen takes twice as long as
 * later ones, and this way nobody has to wait for it.
 */
import { type ReactNode, startTransition, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { ErrorBoundary } from '../components/ErrorBoundary.tsx';
import { IsPrerendering } from './is-prerendering.ts';

/**
 * Fetches what a screen needs for a complete first render and returns the screen, or null if there is nothing to show.
 */
export type PrerenderTask = () => Promise<ReactNode>;

/** Renders them one after another, then unmounts the last. Pass a stable array. */
export function Prerender({ screens }: { readonly screens: readonly PrerenderTask[] }) {
  const [drawn, setDrawn] = useState<ReactNode>(null);
  const [stage] = useState(() => document.createElement('div'));
  useEffect(() => {
    let isOver = false;
    const prerender = async (): Promise<void> => {
      for (const [turn, screen] of [...screens, none].entries()) {
        await idle();
        // A failure to load data or code is shown when the screen is opened.
        const next = await screen().catch(() => null);
        if (isOver) return;
        startTransition(() => setDrawn(next && <ErrorBoundary key={turn}>{next}</ErrorBoundary>));
      }
    };
    void prerender();
    return () => {
      isOver = true;
    };
  }, [screens]);
  return drawn === null ? null : createPortal(<IsPrerendering value>{drawn}</IsPrerendering>, stage);
}

const none: PrerenderTask = () => Promise.resolve(null);

function idle(): Promise<unknown> {
  return new Promise((resolve) => requestIdleCallback(resolve));
}

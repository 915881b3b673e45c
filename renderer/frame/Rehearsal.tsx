/**
 * Screens drawn once outside the document while nothing else is to be done: the first run of their code takes twice as
 * long as any later one, and whoever opens them need not wait for that.
 */
import { type ReactNode, startTransition, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { ErrorBoundary } from '../components/ErrorBoundary.tsx';
import { IsRehearsed } from './is-rehearsed.ts';

/** Fetches what a screen needs to be whole at its first drawing, and gives the screen; null: there is nothing to show yet. */
export type Rehearsed = () => Promise<ReactNode>;

/** Draws them one after another and lets go of the last. Keep the array the same. */
export function Rehearsal({ screens }: { readonly screens: readonly Rehearsed[] }) {
  const [drawn, setDrawn] = useState<ReactNode>(null);
  const [stage] = useState(() => document.createElement('div'));
  useEffect(() => {
    let isOver = false;
    const rehearse = async (): Promise<void> => {
      for (const [turn, screen] of [...screens, none].entries()) {
        await idle();
        // Whoever opens the screen is told of a failure, be it of its data or of its code.
        const next = await screen().catch(() => null);
        if (isOver) return;
        startTransition(() => setDrawn(next && <ErrorBoundary key={turn}>{next}</ErrorBoundary>));
      }
    };
    void rehearse();
    return () => {
      isOver = true;
    };
  }, [screens]);
  return drawn === null ? null : createPortal(<IsRehearsed value>{drawn}</IsRehearsed>, stage);
}

const none: Rehearsed = () => Promise.resolve(null);

function idle(): Promise<unknown> {
  return new Promise((resolve) => requestIdleCallback(resolve));
}

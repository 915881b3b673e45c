import { startTransition, useContext, useEffect, useState } from 'react';
import { IsReport } from './is-report.ts';

/** Upper bound, in case the page is never idle. */
const LATEST_MS = 400;

/**
 * Becomes true once the visible part is painted and the page is idle, for content further down. Waits until `after` is
 * true.
 */
export function useWhenIdle(after = true): boolean {
  const [isIdle, setIdle] = useState(false);
  // A report may be printed as soon as it is open.
  const isReport = useContext(IsReport);
  useEffect(() => {
    if (!after) return;
    return whenIdle(() => setIdle(true));
  }, [after]);
  return isIdle || (isReport && after);
}

/** Updates state once the page is idle, and soon at the latest; returns what cancels it. */
export function whenIdle(update: () => void): () => void {
  const asked = requestIdleCallback(() => startTransition(update), { timeout: LATEST_MS });
  return () => cancelIdleCallback(asked);
}

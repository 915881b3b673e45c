import { startTransition, useEffect, useState } from 'react';

/** Upper bound, in case the page is never idle. */
const LATEST_MS = 400;

/**
 * Becomes true once the visible part is painted and the page is idle, for content further down. Waits until `after` is
 * true.
 */
export function useWhenIdle(after = true): boolean {
  const [isIdle, setIdle] = useState(false);
  useEffect(() => {
    if (!after) return;
    const asked = requestIdleCallback(() => startTransition(() => setIdle(true)), { timeout: LATEST_MS });
    return () => cancelIdleCallback(asked);
  }, [after]);
  return isIdle;
}

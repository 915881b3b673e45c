import { startTransition, useEffect, useState } from 'react';

/** At the latest, where the page is never idle. */
const LATEST_MS = 400;

/**
 * Becomes true once what is in sight was painted and nothing more urgent is to be done: for what is further down. `after`:
 * whether what goes first is there.
 */
export function useLater(after = true): boolean {
  const [isLater, setLater] = useState(false);
  useEffect(() => {
    if (!after) return;
    const asked = requestIdleCallback(() => startTransition(() => setLater(true)), { timeout: LATEST_MS });
    return () => cancelIdleCallback(asked);
  }, [after]);
  return isLater;
}

/**
 * Delivers query notifications that arrive together in one batch, so that the page renders once for all of them. Pure
 * except for timers.
 */

/** Collects notifications and delivers them in one later task. */
export function batchNotifications(later: (work: () => void) => void = setTimeout): (notify: () => void) => void {
  let waiting: (() => void)[] = [];
  const flush = (): void => {
    const due = waiting;
    waiting = [];
    for (const notify of due) notify();
  };
  return (notify) => {
    if (waiting.push(notify) === 1) later(flush);
  };
}

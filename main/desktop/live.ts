/** What of the app's life the desktop shows outside its window. Pure but for the listening. */
import type { App } from '../services/app.ts';
import type { LiveStatus } from '../services/live-status.ts';

/** Calls the listener with the live runs, now and whenever they change. */
export function followLive({ changes, live }: Pick<App, 'changes' | 'live'>, listener: Listener): void {
  listener(live.list());
  changes.listen(({ topic }) => {
    if (topic === 'status') listener(live.list());
  });
}

type Listener = (runs: readonly LiveStatus[]) => void;

/** Whether some run computes: a paused one does not. */
export function isTraining(runs: readonly LiveStatus[]): boolean {
  return runs.some(({ state }) => state !== 'paused');
}

/** The share of all live runs' steps that is done; null when nothing trains. */
export function shareDone(runs: readonly LiveStatus[]): number | null {
  const steps = runs.reduce((sum, { maxSteps }) => sum + maxSteps, 0);
  if (runs.length === 0 || steps === 0) return null;
  return runs.reduce((sum, { step }) => sum + step, 0) / steps;
}

/** The app's state as the desktop shows it outside its window. Pure except for the listener. */
import type { App } from '../services/app/app.ts';
import type { LiveStatus } from '../services/training/live-status.ts';

/** Calls the listener with the live runs, now and whenever they change. */
export function followLive({ changes, live }: Pick<App, 'changes' | 'live'>, listener: Listener): void {
  listener(live.list());
  changes.listen(({ topic }) => {
    if (topic === 'status') listener(live.list());
  });
}

type Listener = (runs: readonly LiveStatus[]) => void;

/** Whether any run is computing; paused ones aren't. */
export function isTraining(runs: readonly LiveStatus[]): boolean {
  return runs.some(({ state }) => state !== 'paused');
}

/** The share of all live runs' steps that are done; null when idle. */
export function shareDone(runs: readonly LiveStatus[]): number | null {
  const steps = runs.reduce((sum, { maxSteps }) => sum + maxSteps, 0);
  if (runs.length === 0 || steps === 0) return null;
  return runs.reduce((sum, { step }) => sum + step, 0) / steps;
}

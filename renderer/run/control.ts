/** Whether a run can be paused, stopped, resumed and rolled back from here. Pure. */
import type { RunFeed } from './run-feed.ts';

/** Elsewhere: it trains in another process. Imported: its optimiser's state stayed where TRL trained it. */
export type Control = 'here' | 'elsewhere' | 'imported';

export function controlOf({ run, live }: Pick<RunFeed, 'run' | 'live'>): Control {
  if (run.backend === 'TRL') return 'imported';
  return live === null && (run.state === 'running' || run.state === 'paused') ? 'elsewhere' : 'here';
}

/** Whether its page offers a comparison: only of a run that doesn't train. */
export function canCompare(feed: Pick<RunFeed, 'run' | 'live'>): boolean {
  return feed.live === null && controlOf(feed) !== 'elsewhere';
}

/** Why it can't be rolled back to a checkpoint now; null: it can. */
export function noRollBack(feed: Pick<RunFeed, 'run' | 'live'>): string | null {
  if (feed.live !== null) return 'Stop the run first';
  const control = controlOf(feed);
  if (control === 'elsewhere') return 'The run is training in another process';
  return control === 'imported' ? 'TRL trained this run; start a new stage from the checkpoint' : null;
}

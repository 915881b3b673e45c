/** The newest small-scale test of a workspace: written by the test, read by the checklists. */
import type { Store } from '../../store/index.ts';

export interface TrialMemory {
  readonly go: boolean;
  readonly at: number;
  readonly model: string;
}

const KEY = 'trial';

export function rememberTrial(store: Pick<Store, 'settings'>, trial: TrialMemory): void {
  store.settings.set(KEY, trial);
}

/** The newest trial; null if there is none. */
export function newestTrial(store: Pick<Store, 'settings'>): TrialMemory | null {
  return (store.settings.get(KEY) as TrialMemory | undefined) ?? null;
}

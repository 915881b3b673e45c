/** A machine that trains doesn't fall asleep; its display may. */
import { powerSaveBlocker } from 'electron';
import type { App } from '../services/app.ts';
import { followLive, isTraining } from './live.ts';

/** Holds the system awake while some run computes. */
export function keepAwake(braid: Pick<App, 'changes' | 'live'>): void {
  let held: number | null = null;
  followLive(braid, (runs) => {
    if (isTraining(runs)) held ??= powerSaveBlocker.start('prevent-app-suspension');
    else if (held !== null) {
      powerSaveBlocker.stop(held);
      held = null;
    }
  });
}

/** Keeps the machine awake during training; its display may sleep. */
import { powerSaveBlocker } from 'electron';
import type { App } from '../services/app/app.ts';
import { followLive, isTraining } from './live.ts';

/** Keeps the system awake while any run computes. */
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

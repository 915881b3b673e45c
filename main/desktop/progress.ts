/** The share of steps done on the task bar. */
import type { BrowserWindow } from 'electron';
import type { App } from '../services/app/app.ts';
import { followLive, isTraining, shareDone } from './live.ts';

/** Shows progress while runs are live; -1 removes it. */
export function showProgress(window: BrowserWindow, braid: Pick<App, 'changes' | 'live'>): void {
  let shown = 'none';
  followLive(braid, (runs) => {
    const share = shareDone(runs);
    const mode = isTraining(runs) ? 'normal' : 'paused';
    const next = share === null ? 'none' : `${mode} ${share.toFixed(3)}`;
    if (next === shown || window.isDestroyed()) return;
    shown = next;
    if (share === null) window.setProgressBar(-1);
    else window.setProgressBar(share, { mode });
  });
}

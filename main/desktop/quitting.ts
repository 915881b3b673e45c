/** Quitting: asks before stopping active runs, and saves them first. */
import { app, type BrowserWindow, dialog } from 'electron';
import type { App } from '../services/app/app.ts';
import { restart } from './restart.ts';
import { showWindow } from './window.ts';

export interface Quitting {
  /** Asks if necessary, saves and quits; with a restart, the app starts again. */
  request(restart?: Restart): void;
}

export interface Restart {
  readonly args: readonly string[];
  /** Called when the app does restart: the user may cancel, or keep it running. */
  readonly onRestart: () => void;
}

/** open: normal. asking: the dialog is open. ending: saving; nothing may delay it. ended: everything is saved. */
type Phase = 'open' | 'asking' | 'ending' | 'ended';

const SAVE = 0;
const KEEP = 1;
/** The queue starts its next stage shortly after a run has ended. */
const SETTLED_MS = 1000;

/** Guards the window's close and the app's quit. */
export function guardQuit(window: BrowserWindow, braid: App): Quitting {
  let phase: Phase = 'open';
  let wantsQuit = false;
  /** Keeping running without a window. */
  let left = false;
  let wanted: Restart | undefined;

  async function ask(): Promise<void> {
    phase = 'asking';
    const work = atWork(braid);
    const answer = work.length === 0 ? await leave(window, braid) : await question(window, work, leftUp(braid));
    wantsQuit = false;
    if (answer === SAVE) return end();
    phase = 'open';
    wanted = undefined;
    left = answer === KEEP;
    if (left) window.hide();
  }

  async function end(): Promise<void> {
    phase = 'ending';
    try {
      await braid.close();
    } catch (error) {
      dialog.showErrorBox('Braid could not save everything', error instanceof Error ? error.message : String(error));
    }
    phase = 'ended';
    if (wanted === undefined) return app.quit();
    try {
      wanted.onRestart();
    } finally {
      await restart(wanted.args);
    }
  }

  app.on('before-quit', () => (wantsQuit = true));
  window.on('close', (event) => {
    if (phase === 'ended') return;
    event.preventDefault();
    // On macOS closing a window doesn't quit the app.
    if (process.platform === 'darwin' && !wantsQuit) window.hide();
    else if (phase === 'open') void ask();
  });
  app.on('window-all-closed', () => app.quit());
  app.on('activate', () => showWindow(window));
  window.on('show', () => (left = false));
  endWhenIdle(braid, () => {
    if (left && phase === 'open' && atWork(braid).length === 0 && leftUp(braid).length === 0) void end();
  });
  return {
    request: (restartWith) => {
      wanted = restartWith;
      wantsQuit = true;
      window.close();
    },
  };
}

/** What would be interrupted. */
function atWork({ live, jobs }: Pick<App, 'live' | 'jobs'>): readonly string[] {
  return [
    ...live.list().map(({ name, step, maxSteps }) => `${name}, step ${step} of ${maxSteps}`),
    ...jobs
      .list()
      .filter(({ state }) => state === 'running')
      .map(({ title }) => title),
  ];
}

/** Servers of engines that outlive the app, and may cost. */
function leftUp({ servers }: Pick<App, 'servers'>): readonly string[] {
  return servers.list().flatMap(({ engine, where, mayBeUp }) => (mayBeUp ? [`${engine}: ${where}`] : []));
}

/** Nothing would be interrupted; servers that stay up are worth a question. */
async function leave(window: BrowserWindow, braid: Pick<App, 'servers'>): Promise<number> {
  const up = leftUp(braid);
  if (up.length === 0) return SAVE;
  showWindow(window);
  const { response } = await dialog.showMessageBox(window, {
    type: 'question',
    title: 'Braid',
    message: up.length === 1 ? 'A server stays up' : 'Servers stay up',
    detail: `${up.join('\n')}\n\nQuitting leaves them up, and they may cost. They can be stopped in Settings, Engines.`,
    buttons: ['Quit', 'Keep running', 'Cancel'],
    defaultId: 2,
    cancelId: 2,
    noLink: true,
  });
  return response;
}

async function question(window: BrowserWindow, work: readonly string[], up: readonly string[]): Promise<number> {
  const stays = up.length === 0 ? '' : `\n\nServers stay up either way: ${up.join(', ')}.`;
  showWindow(window);
  const { response } = await dialog.showMessageBox(window, {
    type: 'question',
    title: 'Braid',
    message: 'Braid is busy',
    detail: `${work.join('\n')}\n\nSave and quit finishes the current step and saves each run so that it can be resumed; other work is cancelled. Keep running only closes the window: start Braid again to reopen it.${stays}`,
    buttons: ['Save and quit', 'Keep running', 'Cancel'],
    defaultId: SAVE,
    cancelId: 2,
    noLink: true,
  });
  return response;
}

/** An app that keeps running without its window quits by itself when its work is done. */
function endWhenIdle({ changes }: Pick<App, 'changes'>, settle: () => void): void {
  let timer: NodeJS.Timeout | null = null;
  changes.listen(({ topic }) => {
    if (topic !== 'status' && topic !== 'jobs' && topic !== 'engines') return;
    timer ??= setTimeout(settle, SETTLED_MS).unref();
    timer.refresh();
  });
}

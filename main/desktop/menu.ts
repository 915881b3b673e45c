/** The application menu: every screen, commands for runs, and the page's own shortcuts. */
import { app, type BrowserWindow, dialog, Menu, type MenuItemConstructorOptions, shell } from 'electron';
import type { PageRequests } from '../api/page-requests.ts';
import type { App } from '../services/app/app.ts';
import type { LiveStatus } from '../services/training/live-status.ts';
import { followLive } from './live.ts';
import { TEXT_EXTENSIONS } from './opened-files.ts';
import { placeKey, places } from './places.ts';

export interface MenuActions {
  readonly openFiles: (files: readonly string[]) => void;
  readonly openWorkspace: () => void;
}

type Items = MenuItemConstructorOptions[];
type RunCommand = 'pause' | 'resume' | 'stop';

/** The states of a live run in which a command is enabled. */
const OFFERED: { readonly [kind in RunCommand]: readonly LiveStatus['state'][] } = {
  pause: ['running'],
  resume: ['paused'],
  stop: ['starting', 'running', 'paused'],
};

/** Sets the menu and keeps its enabled items up to date. */
export function setupMenu(window: BrowserWindow, braid: App, requests: PageRequests, actions: MenuActions): void {
  const go = (path: string) => () => requests.ask({ kind: 'go', path });
  const command = (kind: RunCommand) => () => {
    for (const { runId, state } of braid.live.list()) OFFERED[kind].includes(state) && braid.live.command(runId, kind);
  };
  const openTexts = async (): Promise<void> => {
    const filters = [{ name: 'Texts', extensions: TEXT_EXTENSIONS }];
    const { filePaths } = await dialog.showOpenDialog(window, { properties: ['openFile', 'multiSelections'], filters });
    actions.openFiles(filePaths);
  };

  const file: Items = [
    { label: 'Import texts…', accelerator: 'CmdOrCtrl+O', click: () => void openTexts() },
    { type: 'separator' },
    { label: 'Open another workspace…', click: actions.openWorkspace },
    { label: 'Show the workspace folder', click: () => void shell.openPath(braid.workspace.root) },
    { type: 'separator' },
    process.platform === 'darwin' ? { role: 'close' } : { role: 'quit', accelerator: 'CmdOrCtrl+Q' },
  ];
  const screens: Items = places.map(({ path, label }) => {
    const accelerator = placeKey(path);
    // In a menu, an ampersand marks the access key; two make a literal one.
    return { label: label.replace('&', '&&'), ...(accelerator !== null && { accelerator }), click: go(path) };
  });
  const run: Items = [
    { id: 'pause', label: 'Pause', accelerator: 'CmdOrCtrl+Shift+P', click: command('pause') },
    { id: 'resume', label: 'Resume', accelerator: 'CmdOrCtrl+Shift+R', click: command('resume') },
    { id: 'stop', label: 'Stop and save', click: command('stop') },
  ];
  const view: Items = [
    { label: 'Go to anything…', accelerator: 'CmdOrCtrl+K', click: () => requests.ask({ kind: 'palette' }) },
    { type: 'separator' },
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    { role: 'zoomOut' },
    { role: 'togglefullscreen' },
    { type: 'separator' },
    // Nothing is lost: the page has no state of its own.
    { role: 'reload', accelerator: 'F5' },
    { role: 'toggleDevTools' },
  ];
  const help: Items = [
    { label: 'Take the tour', click: () => requests.ask({ kind: 'tour' }) },
    // The page handles its key, a question mark: as a menu accelerator it could no longer be typed into fields.
    { label: 'Keyboard shortcuts (?)', click: () => requests.ask({ kind: 'keys' }) },
    { label: 'What this machine can run', click: go('/settings/doctor') },
    { type: 'separator' },
    { role: 'about' },
  ];
  const menu = Menu.buildFromTemplate([
    ...(process.platform === 'darwin' ? ([{ role: 'appMenu' }] as Items) : []),
    { label: '&File', submenu: file },
    { role: 'editMenu' },
    { label: '&Go', submenu: screens },
    { label: '&Run', submenu: run },
    { label: '&View', submenu: view },
    { role: 'help', submenu: help },
  ]);
  Menu.setApplicationMenu(menu);
  app.setAboutPanelOptions({ applicationName: 'Braid', applicationVersion: app.getVersion() });
  followLive(braid, (runs) => {
    for (const [kind, states] of Object.entries(OFFERED)) {
      const item = menu.getMenuItemById(kind);
      if (item !== null) item.enabled = runs.some(({ state }) => states.includes(state));
    }
  });
}

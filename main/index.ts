/** Braid on the desktop: Electron's set-up around the app, in order. */
import './io/no-current-folder.ts';
import { app, session } from 'electron';
import { openPageRequests } from './api/page-requests.ts';
import { openPathAccess } from './api/path-access.ts';
import { nativeDialogs } from './desktop/dialogs.ts';
import { keepAwake } from './desktop/keep-awake.ts';
import { guardContents, lockSession } from './desktop/lockdown.ts';
import { setupMenu } from './desktop/menu.ts';
import { notifyOfNotices } from './desktop/notifications.ts';
import { chooseWorkspace, openWorkspaceOrAsk } from './desktop/open-or-ask.ts';
import { openFiles } from './desktop/opened-files.ts';
import { sendPorts } from './desktop/page-port.ts';
import { desktopPaths } from './desktop/paths.ts';
import { openPreferences } from './desktop/preferences.ts';
import { showProgress } from './desktop/progress.ts';
import { guardQuit } from './desktop/quitting.ts';
import { explainRefusal, refusedStart } from './desktop/sandbox.ts';
import { registerScheme, servePage } from './desktop/scheme.ts';
import { lockSingleInstance, ownArguments } from './desktop/single-instance.ts';
import { followTheme } from './desktop/theme.ts';
import { openWindow, showWindow } from './desktop/window.ts';
import { openAllowedFolders } from './services/workspace/allowed-folders.ts';
import { surviveRejections } from './services/workspace/stray-faults.ts';

const paths = desktopPaths(import.meta.dirname, app.isPackaged ? process.resourcesPath : null);

app.enableSandbox();
registerScheme();
guardContents();
const refused = refusedStart();
const instance = refused === null ? lockSingleInstance() : null;
// Electron becomes ready only after this file has run, so nothing is awaited here.
if (refused !== null) void app.whenReady().then(() => explainRefusal(refused));
else if (instance === null) app.quit();
else void app.whenReady().then(start);

async function start(): Promise<void> {
  const preferences = openPreferences();
  const braid = await openWorkspaceOrAsk(instance?.workspace, paths, preferences);
  // The user gave up, knowing why. An error code would have `npm start` open the browser instead.
  if (braid === null) return app.exit(0);
  surviveRejections(braid.notices);

  lockSession(session.defaultSession);
  servePage(paths.page);
  followTheme(braid);
  const { root } = braid.workspace;
  const access = openPathAccess(root, [root, paths.resources, paths.datasets], { kept: openAllowedFolders() });
  const requests = openPageRequests();
  const window = openWindow(paths, preferences);
  const host = {
    kind: 'electron',
    mayLaunch: true,
    version: app.getVersion(),
    dialogs: nativeDialogs(window),
    requests,
    openWorkspace,
  } as const;
  sendPorts({ app: braid, host, access });

  showProgress(window, braid);
  notifyOfNotices(window, braid, requests);
  keepAwake(braid);
  const quitting = guardQuit(window, braid);
  const open = (files: readonly string[]): void => openFiles(files, { access, requests, notices: braid.notices });
  setupMenu(window, braid, requests, { openFiles: open, openWorkspace });
  instance?.onFiles(open);
  instance?.onAgain(() => showWindow(window));

  async function openWorkspace(): Promise<void> {
    const chosen = await chooseWorkspace();
    if (chosen === null) return;
    quitting.request({
      args: [...ownArguments(), '--workspace', chosen],
      onRestart: () => preferences.set('workspace', chosen),
    });
  }
}

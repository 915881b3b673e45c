import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { lockWorkspace } from '../../main/services/workspace/lock.ts';
import { openDatabase } from '../../main/store/open.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { startDesktop } from './desktop.ts';

afterEach(() => vi.unstubAllEnvs());

function databaseOfANewerBraid(): string {
  const folder = temporaryFolder();
  const db = openDatabase(join(folder, 'braid.db'));
  db.pragma('user_version = 9999');
  db.close();
  return folder;
}

describe('a workspace that cannot be opened', () => {
  it('is explained in a dialog, and quitting there is no failure', async () => {
    const workspace = temporaryFolder();
    const lock = lockWorkspace(workspace, 'braid serve');
    const desktop = startDesktop({ workspace });
    expect(await desktop.exited).toBe(0);
    lock.release();
    const [box] = desktop.of('dialog.showMessageBox')[0] ?? [];
    expect(box).toMatchObject({
      type: 'error',
      message: "Braid can't open its workspace",
      detail: expect.stringMatching(
        /is already open in braid serve \(process \d+, since .*\)\n\nUse that one or close it/,
      ),
      buttons: ['Choose another workspace…', 'Try again', 'Quit'],
    });
    expect(desktop.of('BrowserWindow')).toEqual([]);
  });

  it('is retried, then replaced with a chosen one, which the next start uses', async () => {
    const userData = temporaryFolder();
    const chosen = join(temporaryFolder(), 'mine');
    const newer = databaseOfANewerBraid();
    const desktop = startDesktop({ userData, args: ['--workspace', newer], answers: [1, 0], chosen: [[chosen]] });
    await desktop.asked('window.show');
    const [first, second] = desktop.of('dialog.showMessageBox').map(([box]) => box);
    expect(first).toMatchObject({ detail: expect.stringMatching(/got version 9999: it was written by a newer Braid/) });
    expect(second).toEqual(first);
    const page = await desktop.page();
    expect(await page?.client.app.info()).toMatchObject({ workspace: chosen });
    await desktop.order({ kind: 'emit', target: 'window', event: 'close', args: [] });
    await desktop.exited;

    const next = startDesktop({ userData });
    await next.asked('window.show');
    expect(await (await next.page())?.client.app.info()).toMatchObject({ workspace: chosen });
  });

  it('is rejected without a name, and abandoned without a choice', async () => {
    const desktop = startDesktop({ args: ['--workspace'], answers: [0] });
    expect(await desktop.exited).toBe(0);
    expect(desktop.of('dialog.showMessageBox')[0]?.[0]).toMatchObject({
      detail: expect.stringMatching(/^Expected a folder after --workspace/),
    });
    expect(desktop.of('dialog.showOpenDialog')).toHaveLength(1);
  });

  it('is replaced from the menu by a restart', async () => {
    const [workspace, chosen] = [temporaryFolder(), temporaryFolder()];
    const desktop = startDesktop({ workspace, chosen: [[chosen]] });
    await desktop.asked('window.show');
    await desktop.order({ kind: 'menu', label: 'Open another workspace…' });
    expect(await desktop.exited).toBe(0);
    expect(desktop.of('app.relaunch')).toEqual([[{ args: ['.', '--workspace', chosen] }]]);
    expect(existsSync(join(workspace, '.braid-app.json'))).toBe(false);
  });

  /** The double runs in Node, so that Node's folder stands for the AppImage's mount. */
  function startAppImage(image: string) {
    vi.stubEnv('APPIMAGE', image);
    vi.stubEnv('APPDIR', dirname(process.execPath));
    const [userData, workspace, chosen] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    return { userData, chosen, desktop: startDesktop({ userData, workspace, chosen: [[chosen]] }) };
  }

  it.skipIf(process.platform === 'win32')('restarts an AppImage by its file, as its mount goes away', async () => {
    const [image, started] = [join(temporaryFolder(), 'braid.AppImage'), join(temporaryFolder(), 'started')];
    // What it was given, and whether the workspace was already released.
    const script = `#!/bin/sh\n{ printf '%s\\n' "$@"; ls -A "$BRAID_WORKSPACE" | grep -c braid-app; } > '${started}.part'\nmv '${started}.part' '${started}'\n`;
    writeFileSync(image, script, { mode: 0o755 });
    const { chosen, desktop } = startAppImage(image);
    await desktop.asked('window.show');
    await desktop.order({ kind: 'menu', label: 'Open another workspace…' });
    expect(await desktop.exited).toBe(0);
    await until(() => existsSync(started));
    expect(readFileSync(started, 'utf8').split('\n')).toEqual(['.', '--workspace', chosen, '0', '']);
    expect(desktop.of('app.releaseSingleInstanceLock')).toHaveLength(1);
    expect(desktop.of('app.relaunch')).toEqual([]);
  });

  it('says so when the AppImage was moved, and the next start opens the chosen one', async () => {
    const { userData, chosen, desktop } = startAppImage(join(temporaryFolder(), 'none.AppImage'));
    await desktop.asked('window.show');
    await desktop.order({ kind: 'menu', label: 'Open another workspace…' });
    expect(await desktop.exited).toBe(0);
    expect(desktop.of('dialog.showErrorBox')).toEqual([
      ['Braid could not restart', expect.stringMatching(/^Everything is saved\. Start Braid again/)],
    ]);
    const next = startDesktop({ userData });
    await next.asked('window.show');
    expect(await (await next.page())?.client.app.info()).toMatchObject({ workspace: chosen });
  });
});

describe('the window', () => {
  const moved = { x: 100, y: 50, width: 1200, height: 760 };
  const place = (desktop: ReturnType<typeof startDesktop>) => {
    const [{ x, y, width, height }] = desktop.of('BrowserWindow')[0] as readonly [typeof moved];
    return { x, y, width, height };
  };

  it('comes back where it was, on a screen that is there', async () => {
    const userData = temporaryFolder();
    const workspace = temporaryFolder();
    const first = startDesktop({ userData, workspace });
    await first.asked('window.show');
    expect(place(first)).toEqual({ x: undefined, y: undefined, width: 1360, height: 860 });
    await first.order({ kind: 'emit', target: 'window', event: 'moved', args: [moved] });
    await first.order({ kind: 'emit', target: 'window', event: 'close', args: [] });
    await first.exited;

    const second = startDesktop({ userData, workspace });
    await second.asked('window.show');
    expect(place(second)).toEqual(moved);
    await second.order({ kind: 'emit', target: 'window', event: 'close', args: [] });
    await second.exited;

    const elsewhere = startDesktop({ userData, workspace, screens: [{ x: 2000, y: 0, width: 1920, height: 1080 }] });
    await elsewhere.asked('window.show');
    expect(place(elsewhere)).toEqual({ x: undefined, y: undefined, width: 1200, height: 760 });
  });

  it.each([
    ['broken', '{ "window":'],
    ['nonsense', '{ "window": { "x": "left" }, "workspace": 7 }'],
  ])('opens with %s preferences', async (_, content) => {
    const userData = temporaryFolder();
    mkdirSync(userData, { recursive: true });
    writeFileSync(join(userData, 'preferences.json'), content);
    const desktop = startDesktop({ userData, workspace: temporaryFolder() });
    await desktop.asked('window.show');
    expect(place(desktop)).toMatchObject({ width: 1360, height: 860 });
  });
});

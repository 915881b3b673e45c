import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePort } from '../services/servers/desk.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LONG, openDesktop } from './world.ts';

describe('quitting', () => {
  it("doesn't ask when idle", async () => {
    const { desktop } = await openDesktop();
    await desktop.order({ kind: 'emit', target: 'window', event: 'close', args: [] });
    expect(await desktop.exited).toBe(0);
    expect(desktop.of('dialog.showMessageBox')).toEqual([]);
  });

  it('asks during a run: cancel changes nothing, keep running hides the window, save and quit saves', async () => {
    const { world, desktop, client, start, reached } = await openDesktop({ answers: [2, 1, 0] });
    const runId = await start(LONG);
    await reached(runId, 2);
    const close = () => desktop.order({ kind: 'emit', target: 'window', event: 'close', args: [] });
    await close();
    const [box] = await desktop.asked('dialog.showMessageBox');
    expect(box).toMatchObject({
      message: 'Braid is busy',
      detail: expect.stringMatching(/step \d+ of 2000\n\nSave and quit finishes the current step/),
      buttons: ['Save and quit', 'Keep running', 'Cancel'],
    });
    expect(desktop.of('window.hide')).toEqual([]);
    await close();
    await desktop.asked('window.hide');
    const { step } = await client.runs.get({ runId });
    await reached(runId, step + 2);
    // Started again, it shows its window.
    const shown = desktop.of('window.show').length;
    await desktop.order({ kind: 'emit', target: 'app', event: 'second-instance', args: [[], '/', { files: [] }] });
    expect(desktop.of('window.show')).toHaveLength(shown + 1);
    await close();
    expect(await desktop.exited).toBe(0);
    const run = world.store.runs.get(runId);
    expect(run?.state).toBe('stopped');
    expect(world.store.checkpoints.ofRun(runId).at(-1)?.step).toBe(run?.step);
  });

  it('remembers another workspace only when it restarts with it', async () => {
    const [userData, chosen] = [temporaryFolder(), temporaryFolder()];
    const remembered = () => {
      const file = join(userData, 'preferences.json');
      return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).workspace : undefined;
    };
    const { desktop, start, reached } = await openDesktop({ userData, answers: [2, 0], chosen: [[chosen], [chosen]] });
    await reached(await start(LONG), 1);
    await desktop.order({ kind: 'menu', label: 'Open another workspace…' });
    await desktop.asked('dialog.showMessageBox');
    expect(remembered()).toBeUndefined();
    await desktop.order({ kind: 'menu', label: 'Open another workspace…' });
    expect(await desktop.exited).toBe(0);
    expect(desktop.of('app.relaunch')).toHaveLength(1);
    expect(remembered()).toBe(chosen);
  });

  it('quits by itself when everything is done with the window closed', async () => {
    const { world, desktop, client, start, reached } = await openDesktop({ answers: [1] });
    const runId = await start(LONG);
    await reached(runId, 1);
    await desktop.order({ kind: 'emit', target: 'window', event: 'close', args: [] });
    await desktop.asked('window.hide');
    await client.runs.stop({ runId });
    expect(await desktop.exited).toBe(0);
    expect(world.store.runs.get(runId)?.state).toBe('stopped');
  });

  it.skipIf(process.platform === 'win32')('asks when a server of an engine stays up, and says where', async () => {
    const { desktop, client } = await openDesktop({ answers: [2] });
    const [name, url] = ['left-up', `http://127.0.0.1:${await freePort()}`];
    const launcher = {
      kind: 'command',
      command: 'sleep 300',
      host: null,
      port: null,
      idleMinutes: 1,
      maxHours: 1,
    } as const;
    await client.engines.save({ name, url, baseModel: 'm', launcher });
    await client.engines.start({ name });
    await desktop.order({ kind: 'emit', target: 'window', event: 'close', args: [] });
    const [box] = await desktop.asked('dialog.showMessageBox');
    expect(box).toMatchObject({
      message: 'A server stays up',
      detail: expect.stringMatching(/^left-up: a command on this machine\n\nQuitting leaves them up/),
    });
    await client.engines.stop({ name });
    await desktop.order({ kind: 'emit', target: 'window', event: 'close', args: [] });
    expect(await desktop.exited).toBe(0);
    expect(desktop.of('dialog.showMessageBox')).toHaveLength(1);
  });
});

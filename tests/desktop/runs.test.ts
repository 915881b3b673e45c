import { cpSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunNews } from '../../main/services/training/run-watch.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { LONG, openDesktop } from './world.ts';

const root = resolve(import.meta.dirname, '../..');

/** The built app with another trainer; gives its entry. */
function builtWith(trainer: string): string {
  const folder = temporaryFolder();
  const main = join(folder, 'out/main');
  for (const part of ['main', 'preload', 'renderer', 'kernels'])
    cpSync(join(root, 'out', part), join(folder, 'out', part), { recursive: true });
  for (const part of ['node_modules', 'resources', 'datasets', 'package.json'])
    symlinkSync(join(root, part), join(folder, part));
  writeFileSync(join(main, 'trainer.js'), trainer);
  return join(main, 'index.js');
}

describe('a run in the desktop app', () => {
  it('trains in a utility process and streams to the page; task bar, sleep and notification follow it', async () => {
    const { desktop, client, start } = await openDesktop();
    await desktop.order({ kind: 'focus', focused: false });
    const runId = await start(8);
    const news: RunNews[] = [];
    for await (const item of await client.runs.watch({ runId })) {
      news.push(item);
      if (item.run.state === 'done' && item.live === null) break;
    }
    expect(news.flatMap(({ points }) => points.map(({ step }) => step))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(desktop.of('utilityProcess.fork')).toEqual([
      [
        expect.stringMatching(/out[\\/]main[\\/]trainer\.js$/),
        [],
        {
          serviceName: 'Braid trainer',
          stdio: ['ignore', 'ignore', 'pipe'],
          // The pages go first.
          env: expect.objectContaining({ BRAID_YIELDS: '1' }),
        },
      ],
    ]);
    expect(await desktop.asked('powerSaveBlocker.stop')).toEqual([1]);
    expect(desktop.of('powerSaveBlocker.start')).toEqual([['prevent-app-suspension']]);
    const shares = desktop.of('window.setProgressBar').map(([share]) => share as number);
    expect(shares.at(-1)).toBe(-1);
    expect(shares).toContain(0.5);
    expect(shares.slice(0, -1).every((share, i) => share >= (shares[i - 1] ?? 0))).toBe(true);
    const [given] = await desktop.asked('notification.show');
    expect(given).toMatchObject({ title: 'Braid', body: expect.stringMatching(/is done at step 8$/) });

    const requests = await client.app.requests();
    await desktop.order({ kind: 'click-notification', index: 0 });
    expect((await requests.next()).value).toEqual({ kind: 'go', path: `/runs/${runId}` });
    expect(desktop.of('window.focus')).toHaveLength(1);
  });

  it('gives no notification while the window is focused, or if disabled', async () => {
    const { desktop, client, start, idle } = await openDesktop();
    await start(1);
    await idle();
    await desktop.order({ kind: 'focus', focused: false });
    await client.settings.set({ notify: false });
    await start(1);
    await idle();
    expect((await client.app.status()).notices).toHaveLength(2);
    expect(desktop.of('notification.show')).toEqual([]);
  });

  it('is interrupted when its trainer is killed, while the app stays up, and resumes', async () => {
    const { desktop, client, start, reached, idle } = await openDesktop();
    await desktop.order({ kind: 'focus', focused: false });
    const runId = await start(LONG);
    await reached(runId, 7);
    process.kill(Number((await desktop.asked('utilityProcess.spawn'))[0]), 'SIGKILL');
    await until(async () => (await client.runs.get({ runId })).state === 'interrupted');
    const run = await client.runs.get({ runId });
    expect(run.reason).toContain('The trainer process ended with code 9');
    const [given] = await desktop.asked('notification.show');
    expect(given).toMatchObject({ title: 'Something failed in Braid' });
    expect(await desktop.asked('powerSaveBlocker.stop')).toEqual([1]);
    await client.runs.resume({ runId, maxSteps: run.step + 2 });
    await idle();
    expect((await client.runs.get({ runId })).state).toBe('done');
    // One that is ended by the app says so.
    await client.runs.resume({ runId, maxSteps: LONG });
    await reached(runId, run.step + 5);
    await client.runs.kill({ runId });
    await until(async () => (await client.runs.get({ runId })).state === 'interrupted');
    expect((await client.runs.get({ runId })).reason).toContain('The trainer process ended with SIGKILL');
  });

  it('keeps the last stderr output of a trainer that crashes', async () => {
    const entry = builtWith('process.stderr.write("x".repeat(9000) + "\\nout of luck\\n"); process.exit(3);');
    const { client, start, idle } = await openDesktop({ entry });
    await start(5).catch(() => null);
    await idle();
    expect((await client.app.status()).notices[0]?.message).toMatch(/ended with code 3: x*\nout of luck/);
  });

  it('pauses, resumes and stops from the menu, and lets the machine sleep while paused', async () => {
    const { desktop, client, start, reached } = await openDesktop();
    const click = (label: string) => desktop.order({ kind: 'menu', label });
    expect(await click('Pause')).toEqual({ enabled: false });
    const runId = await start(LONG);
    await reached(runId, 1);
    const state = async () => (await client.runs.get({ runId })).state;
    expect(await click('Resume')).toEqual({ enabled: false });
    expect(await click('Pause')).toEqual({ enabled: true });
    await until(async () => (await state()) === 'paused');
    expect(await desktop.asked('powerSaveBlocker.stop')).toEqual([1]);
    expect(desktop.of('window.setProgressBar').at(-1)?.[1]).toEqual({ mode: 'paused' });
    expect(await click('Resume')).toEqual({ enabled: true });
    await until(async () => (await state()) === 'running');
    expect(await desktop.asked('powerSaveBlocker.start', 2)).toEqual(['prevent-app-suspension']);
    expect(await click('Stop and save')).toEqual({ enabled: true });
    await until(async () => (await state()) === 'stopped');
  });
});

/** A disk that fills up under a running app: the run stops with a reason, the app answers, nothing stored is lost. */
import { describe, expect, it } from 'vitest';
import { connectTo, startHost } from '../commands/serve-host.ts';
import { tinyWorkspace } from '../services/tiny-workspace.ts';
import { until } from '../until.ts';

describe.skipIf(process.platform === 'win32')('a full disk under the app', () => {
  it('ends the run with a reason and leaves the app up', { timeout: 120_000 }, async () => {
    const world = await tinyWorkspace();
    // No file of this process may grow beyond 900 KiB: writes then fail as on a full disk.
    const host = await startHost(world.root, [], { fileKiB: 900 });
    const client = await connectTo(host);
    const config = { ...world.config({ max_steps: 5000, save_steps: 5000, sample_steps: 1 }) };
    const { runId } = await client.runs.start({ config });
    await until(async () => (await client.app.status()).live.length === 0);
    const [notice] = (await client.app.status()).notices;
    expect(notice).toMatchObject({ severity: 'error', message: expect.stringMatching(/could not be saved/) });
    expect(notice?.remedy).toMatch(/Free space/);
    const run = await client.runs.get({ runId });
    expect(run).toMatchObject({ state: 'interrupted', reason: expect.stringMatching(/could not be saved.*disk/) });
    const points = await client.runs.series({ runId, names: ['reward'] });
    expect(run.step).toBeGreaterThan(3);
    expect(points.reward?.map(({ step }) => step)).toEqual(Array.from({ length: run.step }, (_, i) => i + 1));

    host.process.kill('SIGKILL');
    await host.exited;
    const roomy = await connectTo(await startHost(world.root));
    const found = await roomy.runs.get({ runId });
    expect(found.state).toBe('interrupted');
    expect(found.step).toBe(run.step);
    await roomy.runs.resume({ runId, maxSteps: 6 });
    await until(async () => (await roomy.runs.get({ runId })).state === 'done');
  });
});

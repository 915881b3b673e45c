import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRun } from '../../../main/services/runs/runs.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { writeTinyDataset } from '../../tiny-dataset.ts';
import { until } from '../../until.ts';
import { openTinyClient } from '../transports.ts';

async function open() {
  const { world, app, client } = await openTinyClient();
  // No run is to start here: the queue waits.
  await client.settings.set({ run_queue: false });
  const config = { model: world.model, dataset: world.dataset, max_steps: 2 };
  return { ...world, app, client, base: { ...config, num_generations: 4, per_device_train_batch_size: 8 } };
}

const plan = (change: object = {}) => ({ name: 'lr', fields: { learning_rate: [1e-5, 1e-4] }, seeds: 2, ...change });

describe('sweeps over the contract', () => {
  it('previews, starts, pauses, resumes, cancels and deletes a plan', async () => {
    const { client, base } = await open();
    const preview = await client.sweeps.preview({ config: base, plan: plan() });
    expect(preview).toMatchObject({ faults: [], problem: null, preview: { runs: 4, steps: 8 } });
    const { sweepId } = await client.sweeps.start({ config: base, plan: plan() });
    expect(await client.sweeps.list()).toMatchObject([{ id: sweepId, state: 'queued', inQueue: true, over: 0 }]);
    await expect(client.sweeps.remove({ sweepId })).rejects.toMatchObject({ message: '"lr" is queued' });
    await client.sweeps.pause({ sweepId });
    expect(await client.sweeps.get({ sweepId })).toMatchObject({ state: 'paused', inQueue: false });
    await client.sweeps.resume({ sweepId });
    await client.sweeps.rename({ sweepId, name: 'rates' });
    expect((await client.queue.list()).places).toMatchObject([{ kind: 'sweep', name: 'rates' }]);
    await client.sweeps.cancel({ sweepId });
    expect(await client.sweeps.get({ sweepId })).toMatchObject({ state: 'cancelled', over: 4 });
    await client.sweeps.retry({ sweepId });
    expect(await client.sweeps.get({ sweepId })).toMatchObject({ state: 'queued', over: 0 });
    await client.sweeps.cancel({ sweepId });
    await client.sweeps.remove({ sweepId });
    expect(await client.sweeps.list()).toEqual([]);
  });

  it('keeps every setting of a page to the files that it may use', async () => {
    const { client, base, app } = await open();
    const outside = writeTinyDataset(join(temporaryFolder(), 'secret.jsonl'));
    const reach = plan({ fields: { dataset: [base.dataset, outside] } });
    const refused = { data: expect.objectContaining({ code: 'PATH_OUTSIDE' }) };
    await expect(client.sweeps.start({ config: base, plan: reach })).rejects.toMatchObject(refused);
    await expect(client.sweeps.estimate({ config: base, plan: reach })).rejects.toMatchObject(refused);
    expect((await client.sweeps.preview({ config: base, plan: reach })).problem).toContain('secret.jsonl');
    expect(app.store.sweeps.list()).toEqual([]);
  });
});

describe('sweeps.estimate', () => {
  it('is cancelled when the page no longer waits for it', async () => {
    const { client, base, app } = await open();
    const page = new AbortController();
    const failed = expect(
      client.sweeps.estimate({ config: base, plan: plan() }, { signal: page.signal }),
    ).rejects.toThrow();
    await until(() => app.jobs.list().length > 0);
    page.abort();
    await failed;
    await until(() => app.jobs.list()[0]?.state !== 'running');
    expect(app.jobs.list()).toMatchObject([{ kind: 'preflight', state: 'cancelled' }]);
  });
});

describe('the queue over the contract', () => {
  it('takes runs, in the order of the user', async () => {
    const { client, base } = await open();
    const { queuedId } = await client.queue.addRun({ config: base, name: 'one' });
    await client.queue.addRun({ config: base });
    await client.queue.reorder({ keys: [{ kind: 'run', id: queuedId + 1 }] });
    expect((await client.queue.list()).places.map(({ name }) => name)).toEqual([null, 'one']);
    await client.queue.remove({ kind: 'run', id: queuedId });
    expect((await client.queue.list()).places).toHaveLength(1);
    const outside = writeTinyDataset(join(temporaryFolder(), 'secret.jsonl'));
    await expect(client.queue.addRun({ config: { ...base, dataset: outside } })).rejects.toMatchObject({
      data: expect.objectContaining({ code: 'PATH_OUTSIDE' }),
    });
  });
});

describe('runs.settings', () => {
  it('has the settings in which runs differ, and each value', async () => {
    const { client, app, config } = await open();

    const [first, second] = [1e-5, 1e-4].map((learning_rate) => createRun(app.store, config({ learning_rate })).runId);
    const runIds = [first ?? 0, second ?? 0, 99];
    expect(await client.runs.settings({ runIds })).toEqual({
      fields: ['learning_rate'],
      values: { [first ?? 0]: [1e-5], [second ?? 0]: [1e-4] },
    });
  });
});

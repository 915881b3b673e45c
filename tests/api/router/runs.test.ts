import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../until.ts';
import { openTinyClient } from '../transports.ts';

describe('runs.start', () => {
  it('uses the settings of a run except for the given ones, under a new name', async () => {
    const { world, app, client } = await openTinyClient();
    const config = { ...world.config({ method: 'sft', max_steps: 1, learning_rate: 0.25 }) };
    const first = await client.runs.start({ config, name: 'warm/seed_42' });
    await app.live.outcome(first.runId);
    const second = await client.runs.start({ like: first.runId, name: 'warm/seed_43', config: { seed: 43 } });
    await app.live.outcome(second.runId);
    const differing = await client.runs.compareConfigs({ runIds: [first.runId, second.runId] });
    expect(differing.map(({ field }) => field)).toEqual(['seed']);
    expect((await client.runs.get(second)).name).toBe('warm/seed_43');
    await expect(client.runs.start({ like: 99, config: {} })).rejects.toMatchObject({ data: { code: 'RUN_UNKNOWN' } });
  });
});

describe('runs.preflight', () => {
  it('is cancelled when the page no longer waits for it', async () => {
    const { world, app, client } = await openTinyClient();
    const page = new AbortController();
    const report = client.runs.preflight({ config: { ...world.config({ max_steps: 4 }) } }, { signal: page.signal });
    const failed = expect(report).rejects.toThrow();
    await until(() => app.jobs.list().length > 0);
    page.abort();
    await failed;
    await until(() => app.jobs.list()[0]?.state !== 'running');
    expect(app.jobs.list()).toMatchObject([{ kind: 'preflight', state: 'cancelled' }]);
  });
});

describe('runs.wholeCheckpoint', () => {
  it('is the newest whose files are as they were written, and names those that are not', async () => {
    const { world, app, client } = await openTinyClient();
    const { runId } = await client.runs.start({ config: { ...world.config({ max_steps: 4, save_steps: 2 }) } });
    await app.live.outcome(runId);
    const [earlier, newest] = (await client.runs.get({ runId })).checkpoints;
    expect(await client.runs.wholeCheckpoint({ runId })).toEqual({ checkpointId: newest?.id, damaged: [] });
    appendFileSync(join(newest?.path ?? '', 'rng.json'), ' ');
    const file = join(newest?.path ?? '', 'rng.json');
    const damaged = [{ step: 4, file, reason: 'its content is not what was written' }];
    expect(await client.runs.wholeCheckpoint({ runId })).toEqual({ checkpointId: earlier?.id, damaged });
    rmSync(join(earlier?.path ?? '', 'adapter_model.safetensors'));
    expect(await client.runs.wholeCheckpoint({ runId })).toMatchObject({
      checkpointId: null,
      damaged: [...damaged, { step: 2, reason: 'it is missing or cannot be read' }],
    });
  });
});

describe('runs.signal', () => {
  it('has a budget of what a run sampled, and the next run takes a setting of it over', async () => {
    const { world, app, client } = await openTinyClient();
    // Each generation is trained on twice.
    const config = { ...world.config({ max_steps: 4, num_iterations: 2, num_generations: 4 }) };
    const { runId } = await client.runs.start({ config, name: 'plain/seed_42' });
    await app.live.outcome(runId);
    const times = app.store.metrics.series(runId, 'step_time').map(({ value }) => value);
    expect(times).toHaveLength(4);
    const budget = await client.runs.signal({ runId });
    expect(budget?.seconds).toBeCloseTo(
      times.reduce((a, b) => a + b),
      9,
    );
    expect(budget?.bins.map(({ from }) => from)).toEqual([1, 3]);
    expect(budget?.savings.map(({ setting, unknown }) => [setting, unknown])).toEqual(
      expect.arrayContaining([
        ['adarft_target_reward', expect.stringMatching(/^(one_length|no_signal)$/)],
        ['scale_rewards', 'changes_update'],
        ['use_adaptive_entropy', 'changes_update'],
      ]),
    );
    const { change, name } = await client.runs.signalNext({ runId, setting: 'pods_update_size' });
    expect(change).toEqual({ pods_update_size: 2, per_device_train_batch_size: 4 });
    const next = await client.runs.start({ like: runId, name, config: change });
    await app.live.outcome(next.runId);
    const differing = await client.runs.compareConfigs({ runIds: [runId, next.runId] });
    expect(differing.map(({ field }) => field).toSorted()).toEqual(Object.keys(change).toSorted());
    expect((await client.runs.get(next)).name).toBe('plain pods_update_size 2/seed_42');
    // Now it is in use.
    await expect(client.runs.signalNext({ runId: next.runId, setting: 'pods_update_size' })).rejects.toMatchObject({
      data: { code: 'SIGNAL_SETTING_UNUSABLE' },
    });
    await expect(client.runs.signal({ runId: 99 })).rejects.toMatchObject({ data: { code: 'RUN_UNKNOWN' } });
  });
});

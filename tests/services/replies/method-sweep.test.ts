import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { draftMethods } from '../../../main/services/replies/method-sweep.ts';
import { phaseFiles } from '../../../main/services/replies/methods.ts';
import { estimateDraft } from '../../../main/services/sweeps/estimate.ts';
import { openTinyClient } from '../../api/transports.ts';
import { until } from '../../until.ts';

describe('the four methods as a sweep', () => {
  it('splits the replies and queues every method with every seed, GRPO after the baseline of its seed', async () => {
    const { app, client } = await openTinyClient();
    // No run is to start here: the queue waits.
    await client.settings.set({ run_queue: false });
    const { sweepId } = await client.sweeps.startReplies({ seeds: [42, 43, 44, 45] });
    expect(phaseFiles(app.workspace).every((file) => existsSync(file))).toBe(true);
    const trials = app.store.sweeps.trials(sweepId);
    expect(trials.map(({ name }) => name).slice(0, 5)).toEqual([
      'baseline/seed_42',
      'polychromic/seed_42',
      'grpo_from_baseline/seed_42',
      'polychromic_grpo/seed_42',
      'baseline/seed_43',
    ]);
    expect(trials).toHaveLength(16);
    const baselines = trials.filter(({ setting }) => setting === 0);
    for (const { afterId, setting, seed, config } of trials) {
      const baseline = baselines.find((trial) => trial.seed === seed);
      expect(afterId).toBe(setting < 2 ? null : baseline?.id);
      expect(config).toMatchObject({ seed, task: 'reply' });
    }
    expect(await client.sweeps.get({ sweepId })).toMatchObject({
      fields: ['method'],
      state: 'queued',
      runs: 16,
      threshold: 0.7,
      rows: [{ label: 'method baseline' }, {}, {}, {}],
    });
    expect((await client.queue.list()).places).toMatchObject([{ kind: 'sweep', id: sweepId }]);
    await client.sweeps.cancel({ sweepId });
    expect((await client.queue.list()).places).toEqual([]);
  });

  it('is estimated by one measure of each method, whatever the number of seeds, and nothing is stored', async () => {
    const { app, client } = await openTinyClient();
    const estimate = client.sweeps.estimateReplies({ seeds: [42, 43] });
    const ended = expect(estimate).rejects.toMatchObject({ data: { code: 'INTERRUPTED' } });
    const measuring = () => app.jobs.list().find(({ title }) => title === 'Estimate the sweep "Reply methods"');
    await until(() => measuring() !== undefined);
    await client.app.cancelJob({ id: measuring()?.id ?? 0 });
    await ended;
    const draft = await draftMethods(app, [42, 43], () => Promise.reject(new Error('Expected the split to be kept')));
    const one = { secondsPerStep: 0.5, memoryBytes: 2e8, diskBytes: 1e6 };
    expect(await estimateDraft(draft, async () => one)).toEqual({
      runs: 8,
      steps: 560,
      seconds: 280,
      diskBytes: 8e6,
      memoryBytes: 2e8,
      measured: 4,
      kinds: 4,
    });
    expect(app.store.sweeps.list()).toEqual([]);
  });
});

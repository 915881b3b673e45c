import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { phaseFiles } from '../../../main/services/replies/methods.ts';
import { contextOf, openTinyApp, overPorts } from '../../api/transports.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

describe('the four methods as a sweep', () => {
  it('splits the replies and queues every method with every seed, GRPO after the baseline of its seed', async () => {
    const world = await tinyWorkspace();
    const app = openTinyApp(world);
    const { client } = await overPorts(contextOf(app));
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
      ...{ fields: ['method'], state: 'queued', runs: 16, threshold: 0.7 },
      rows: [{ label: 'method baseline' }, {}, {}, {}],
    });
    expect((await client.queue.list()).places).toMatchObject([{ kind: 'sweep', id: sweepId }]);
    await client.sweeps.cancel({ sweepId });
    expect((await client.queue.list()).places).toEqual([]);
  });
});

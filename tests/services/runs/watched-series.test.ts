import { describe, expect, it } from 'vitest';
import { createRun } from '../../../main/services/runs/runs.ts';
import { watchedSeries } from '../../../main/services/runs/watched-series.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { temporaryStore } from '../../store/helpers.ts';

describe('watchedSeries', () => {
  it("gives the four curves with TRL's names, the policy loss without beta times KL", () => {
    const store = temporaryStore();
    const { runId } = createRun(store, parseConfig({ beta: 0.1 }));
    store.metrics.record(runId, 1, { loss: 0.5, kl: 2, reward: 0.4 });
    store.metrics.record(runId, 2, { loss: 0.25, reward: 0.6 });
    const watched = watchedSeries(store, runId).map(({ name, metric, points }) => [
      name,
      metric,
      points.map(({ value }) => value),
    ]);
    expect(watched).toEqual([
      ['policy_loss', 'loss − beta × kl', [0.3, 0.25]],
      ['avg_reward', 'reward', [0.4, 0.6]],
      ['kl_penalty', 'kl', [2]],
      ['total_loss', 'loss', [0.5, 0.25]],
    ]);
    expect(watchedSeries(store, runId).map(({ now }) => now)).toEqual([0.25, 0.6, 2, 0.25]);
    expect(watchedSeries(store, runId).map(({ step }) => step)).toEqual([2, 2, 1, 2]);
    for (let step = 3; step <= 1000; step++) store.metrics.record(runId, step, { loss: step, reward: 1 });
    expect(watchedSeries(store, runId)[3]?.points.length).toBe(120);
    expect(() => watchedSeries(store, 99)).toThrow('99');
  });
});

import { describe, expect, it } from 'vitest';
import { createRun } from '../../../main/services/runs/runs.ts';
import { seedGroupSummary, seedGroups, seedRunName, spreadOf } from '../../../main/services/runs/seed-groups.ts';
import { parseConfig, type TrainConfig } from '../../../main/trainer/config/config.ts';
import { temporaryStore } from '../../store/helpers.ts';

describe('spreadOf', () => {
  it('gives mean, standard deviation over n − 1, and ends', () => {
    expect(spreadOf([1, 2, 3])).toEqual({ n: 3, mean: 2, std: 1, min: 1, max: 3 });
    expect(spreadOf([5]).std).toBeNull();
  });
});

describe('seed groups', () => {
  it('gathers the runs of an experiment and their metrics over the seeds', () => {
    const store = temporaryStore();
    const config = parseConfig({});
    const made = [42, 7, 42].map((seed, i) => {
      const { runId } = createRun(store, { ...config, seed }, { name: seedRunName('baseline', seed) });
      store.metrics.record(runId, 1, { reward: i });
      store.metrics.record(runId, 2, { reward: 10 * i });
      store.runs.setState(runId, 'done', null);
      return runId;
    });
    createRun(store, config, { name: 'run of its own' });
    const broken = createRun(store, config, { name: seedRunName('baseline', 9) });
    store.metrics.record(broken.runId, 1, { reward: 1000 });
    store.runs.setState(broken.runId, 'failed', 'x');

    const [group] = seedGroups(store);
    expect(group?.runs.map(({ seed, runId }) => [seed, runId])).toEqual([
      [7, made[1]],
      [9, broken.runId],
      [42, made[2]],
    ]);
    const summary = seedGroupSummary(store, 'baseline');
    expect(summary.metrics.reward).toMatchObject({ n: 2, mean: 15 });
    expect(summary.metrics.reward?.std).toBeCloseTo(Math.sqrt(50), 12);
  });

  it('averages only runs of the settings of the newest, whatever they start from', () => {
    const store = temporaryStore();
    const add = (seed: number, reward: number, changes: Partial<TrainConfig>): void => {
      const config = { ...parseConfig({}), ...changes, seed };
      const { runId } = createRun(store, config, { name: seedRunName('grpo', seed) });
      store.metrics.record(runId, 1, { reward });
      store.runs.setState(runId, 'done', null);
    };
    add(1, 0.1, { dataset: 'short.jsonl' });
    add(2, 0.2, { learning_rate: 1e-2 });
    add(3, 0.6, { threads: 1, from_checkpoint: '/base/seed_3', model: '/base/seed_3' });
    add(4, 0.8, { from_checkpoint: '/base/seed_4', model: '/base/seed_4' });
    const { metrics, other_settings } = seedGroupSummary(store, 'grpo');
    expect(metrics.reward).toMatchObject({ n: 2, min: 0.6, max: 0.8 });
    expect(other_settings).toEqual([1, 2]);
  });

  it('rejects unknown and unusable names', () => {
    expect(() => seedGroupSummary(temporaryStore(), 'none')).toThrow('There are no runs of the experiment "none"');
    expect(() => seedRunName('a/b', 1)).toThrow('got "a/b"');
    expect(seedRunName('Опыт 2', 1)).toBe('Опыт 2/seed_1');
  });
});

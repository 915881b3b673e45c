import { describe, expect, it } from 'vitest';
import { adviceFor } from '../../main/services/advice/rules.ts';
import { advisedName, adviseNext, runAdvice } from '../../main/services/advice.ts';
import { costOf } from '../../main/services/run-cost.ts';
import { createRun } from '../../main/services/runs.ts';
import { parseConfig } from '../../main/trainer/config.ts';
import type { Metrics } from '../../main/trainer/events.ts';
import { temporaryStore } from '../store/helpers.ts';

const config = parseConfig({ beta: 0.1, temperature: 0.8, num_generations: 8, per_device_train_batch_size: 32 });
const steps = (make: (i: number) => Metrics, n = 40): Metrics[] => Array.from({ length: n }, (_, i) => make(i));
const healthy = (i: number): Metrics => ({ reward: 0.4 + i / 100, reward_std: 0.2, kl: 1, step_time: 2 });
const rules = (history: Metrics[]) => adviceFor(config, history).map(({ rule }) => rule);

describe('adviceFor', () => {
  it('has nothing to say of a healthy run, nor of a flat one that is young', () => {
    expect(rules(steps(healthy))).toEqual([]);
    expect(rules(steps(() => ({ reward: 0.4, reward_std: 0.2 }), 29))).toEqual([]);
  });

  it('wants more beta when the KL goes above 10, and a lower rate too above 15', () => {
    const [high] = adviceFor(
      config,
      steps((i) => ({ ...healthy(i), kl: i === 20 ? 11 : 1 })),
    );
    expect(high).toMatchObject({ rule: 'kl_high', change: { beta: 0.2 } });
    const [exploding] = adviceFor(
      config,
      steps((i) => ({ ...healthy(i), kl: i })),
    );
    expect(exploding).toMatchObject({ rule: 'kl_exploding', change: { beta: 0.2, learning_rate: 0.5e-6 } });
    const [from0] = adviceFor(
      { ...config, beta: 0 },
      steps((i) => ({ ...healthy(i), kl: 11 })),
    );
    expect(from0?.change).toEqual({ beta: 0.04 });
  });

  it('wants a higher temperature when the reward is flat, and says so when all rewards are equal', () => {
    const [flat] = adviceFor(
      config,
      steps((i) => ({ ...healthy(i), reward: 0.4 + 0.001 * (i % 2) })),
    );
    expect(flat).toMatchObject({ rule: 'reward_flat', change: { temperature: 0.9 } });
    const [equal] = adviceFor(
      config,
      steps((i) => ({ ...healthy(i), reward: 0.5, reward_std: 0 })),
    );
    expect(equal?.message).toContain('all rewards are equal');
  });

  it('wants fewer generations when steps take long, as whole groups', () => {
    const [slow] = adviceFor(
      config,
      steps((i) => ({ ...healthy(i), step_time: 100 })),
    );
    expect(slow).toMatchObject({ rule: 'too_slow', change: { num_generations: 6, per_device_train_batch_size: 24 } });
    expect(
      adviceFor(
        { ...config, method: 'sft' },
        steps(() => ({ step_time: 100 })),
      ),
    ).toEqual([]);
    expect(
      adviceFor(
        { ...config, num_generations: 2 },
        steps((i) => ({ ...healthy(i), step_time: 100 })),
      ),
    ).toEqual([]);
  });

  it('names a component that never gave a number', () => {
    const [missing] = adviceFor(
      config,
      steps((i) => ({ ...healthy(i), 'rewards/relevance/mean': Number.NaN })),
    );
    expect(missing).toMatchObject({
      rule: 'component_missing',
      change: {},
      message: expect.stringContaining('relevance'),
    });
  });
});

describe('runAdvice and adviseNext', () => {
  it('read the history and give what the next run changes', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, config, { name: 'grpo/seed_42' });
    for (const [i, metrics] of steps((i) => ({ ...healthy(i), kl: 12, reward: 0.4 })).entries())
      store.metrics.record(runId, i + 1, metrics);
    expect(runAdvice(store, runId).map(({ rule }) => rule)).toEqual(['kl_high', 'reward_flat']);
    const change = { beta: 0.2 };
    expect(adviseNext(store, runId, ['kl_high'])).toEqual({ base: config, change, name: 'grpo beta 0.2/seed_42' });
    expect(adviseNext(store, runId, ['kl_high', 'reward_flat'])).toMatchObject({
      change: { beta: 0.2, temperature: 0.9 },
      name: 'grpo beta 0.2 temperature 0.9/seed_42',
    });
    expect(() => runAdvice(store, 99)).toThrow('99');
  });
});

describe('advisedName', () => {
  it('keeps the seed last, so that the run is a group of its own with it', () => {
    expect(advisedName('poly/seed_7', { temperature: 0.9 })).toBe('poly temperature 0.9/seed_7');
    expect(advisedName('run-0007-10words-grpo', { beta: 0.04 })).toBe('run-0007-10words-grpo beta 0.04');
  });

  it('replaces what earlier advice said, and leaves out what only follows from it', () => {
    const change = { num_generations: 6, per_device_train_batch_size: 48 };
    expect(advisedName('poly num_generations 8/seed_7', change)).toBe('poly num_generations 6/seed_7');
  });
});

describe('costOf', () => {
  it('is hours times the price, or nothing without a price', () => {
    expect(costOf(1800, { hourly_price: 0.78, currency: '$' })).toEqual({ seconds: 1800, cost: 0.39, currency: '$' });
    expect(costOf(1800, { hourly_price: 0, currency: '$' }).cost).toBeNull();
  });
});

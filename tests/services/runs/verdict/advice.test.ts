import { describe, expect, it } from 'vitest';
import { costOf } from '../../../../main/services/runs/cost.ts';
import { createRun } from '../../../../main/services/runs/runs.ts';
import { advisedName, adviseNext, runAdvice } from '../../../../main/services/runs/verdict/advice.ts';
import { adviceFor, type RunFigures } from '../../../../main/services/runs/verdict/advice-rules.ts';
import { parseConfig } from '../../../../main/trainer/config/config.ts';
import { temporaryStore } from '../../../store/helpers.ts';

const config = parseConfig({ beta: 0.1, temperature: 0.8, num_generations: 8, per_device_train_batch_size: 32 });
const ten = (value: number): number[] => new Array<number>(10).fill(value);
const healthy: RunFigures = {
  rewards: 40,
  firstRewards: ten(0.4),
  lastRewards: ten(0.8),
  spread: 0.2,
  highestKl: 1,
  stepTimes: ten(2),
};

describe('adviceFor', () => {
  it('has nothing to say of a healthy run, nor of a flat one that is young', () => {
    expect(adviceFor(config, healthy)).toEqual([]);
    expect(adviceFor(config, { ...healthy, rewards: 29, lastRewards: ten(0.4) })).toEqual([]);
  });

  it('wants more beta when the KL goes above 10, and a lower rate too above 15', () => {
    expect(adviceFor(config, { ...healthy, highestKl: 11 })).toMatchObject([
      { rule: 'kl_high', change: { beta: 0.2 } },
    ]);
    expect(adviceFor(config, { ...healthy, highestKl: 39 })).toMatchObject([
      { rule: 'kl_exploding', change: { beta: 0.2, learning_rate: 0.5e-6 } },
    ]);
    expect(adviceFor({ ...config, beta: 0 }, { ...healthy, highestKl: 11 })[0]?.change).toEqual({ beta: 0.04 });
    expect(adviceFor(config, { ...healthy, highestKl: Number.NaN })).toEqual([]);
  });

  it('wants a higher temperature when the reward is flat, and says so when all rewards are equal', () => {
    const [flat] = adviceFor(config, { ...healthy, lastRewards: ten(0.41) });
    expect(flat).toMatchObject({ rule: 'reward_flat', change: { temperature: 0.9 } });
    const [equal] = adviceFor(config, { ...healthy, lastRewards: ten(0.4), spread: 0 });
    expect(equal?.message).toContain('in each of them all rewards are equal');
    // Where the spread isn't known, that isn't either, and a rise is one.
    const unknown = { ...healthy, spread: Number.NaN };
    expect(adviceFor(config, { ...unknown, lastRewards: ten(0.4) })[0]?.message).not.toContain('equal');
    expect(adviceFor(config, { ...unknown, lastRewards: ten(0.5) })).toEqual([]);
    expect(equal?.remedy).toContain('to 0.9 so that');
    // Where the verdict says "learned" or "goal reached", advice to explore more would contradict it.
    // So does "getting worse", which says to lower the learning rate.
    for (const verdict of ['learned', 'goal reached', 'getting worse', 'overfitting', 'drifting', 'no signal'])
      expect(adviceFor(config, { ...healthy, lastRewards: ten(0.2) }, { verdict: verdict })).toEqual([]);
    for (const verdict of ['flat', 'no progress'])
      expect(adviceFor(config, { ...healthy, lastRewards: ten(0.41) }, { verdict: verdict })).toHaveLength(1);
  });

  it('wants a warm-up where the reward stayed near 0 and there are targets, in place of a higher temperature', () => {
    const stuck = { ...healthy, rewards: 20, firstRewards: ten(0.04), lastRewards: ten(0.05) };
    const warmable = { highestReward: 1 };
    for (const verdict of ['flat', 'no progress', 'no signal'])
      expect(adviceFor(config, stuck, { verdict, warmable })).toMatchObject([
        { rule: 'near_zero', change: { warm_up_steps: 40 } },
      ]);
    expect(adviceFor(config, { ...stuck, rewards: 40 }, { verdict: 'flat' })[0]?.rule).toBe('reward_flat');
    expect(adviceFor(config, { ...stuck, lastRewards: ten(0.2) }, { verdict: 'flat', warmable })).toEqual([]);
    expect(adviceFor(config, stuck, { verdict: 'learning', warmable })).toEqual([]);
  });

  it('leaves what PODS trains on as it is when it wants fewer generations', () => {
    const slow = { ...healthy, stepTimes: [70, 80, 90] };
    const pods = { ...config, pods_update_size: 4 };
    expect(adviceFor(pods, slow)).toMatchObject([{ rule: 'too_slow', change: { num_generations: 6 } }]);
    expect(adviceFor(pods, slow)[0]?.change).not.toHaveProperty('per_device_train_batch_size');
    expect(adviceFor({ ...config, pods_update_size: 8 }, slow)).toEqual([]);
  });

  it('wants fewer generations when steps take long, as whole groups', () => {
    const slow = { ...healthy, stepTimes: ten(100) };
    expect(adviceFor(config, slow)).toMatchObject([
      { rule: 'too_slow', change: { num_generations: 6, per_device_train_batch_size: 24 } },
    ]);
    expect(adviceFor({ ...config, method: 'sft' }, slow)).toEqual([]);
    expect(adviceFor({ ...config, num_generations: 2 }, slow)).toEqual([]);
  });
});

describe('runAdvice and adviseNext', () => {
  it('read the history and give what the next run changes', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, config, { name: 'grpo/seed_42' });
    for (let step = 1; step <= 40; step++) {
      const metrics = { reward: 0.4, reward_std: 0.2, kl: step === 20 ? 12 : 1, step_time: 2 };
      store.metrics.record(runId, step, metrics);
    }
    expect(runAdvice(store, runId).map(({ rule }) => rule)).toEqual(['kl_high', 'reward_flat']);
    const change = { beta: 0.2 };
    expect(adviseNext(store, runId, ['kl_high'])).toEqual({ base: config, change, name: 'grpo beta 0.2/seed_42' });
    expect(adviseNext(store, runId, ['kl_high', 'reward_flat'])).toMatchObject({
      change: { beta: 0.2, temperature: 0.9 },
      name: 'grpo beta 0.2 temperature 0.9/seed_42',
    });
    expect(() => runAdvice(store, 99)).toThrow('99');
  });

  it('say nothing of generations while slow steps are those of the warm-up', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, { ...config, warm_up_steps: 20 }, { name: 'warm' });
    for (let step = 1; step <= 20; step++) store.metrics.record(runId, step, { 'warm_up/loss': 1, step_time: 200 });
    expect(runAdvice(store, runId)).toEqual([]);
    for (let step = 21; step <= 23; step++) store.metrics.record(runId, step, { reward: 0.5, step_time: 200 });
    expect(runAdvice(store, runId)).toMatchObject([{ rule: 'too_slow' }]);
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

import { describe, expect, it } from 'vitest';
import { costOf, runCost } from '../../../main/services/runs/cost.ts';
import { claimRun, interruptRun, rewindRun } from '../../../main/services/runs/runs.ts';
import { addRun, temporaryStore } from '../../store/helpers.ts';

describe('runCost', () => {
  it('adds up what the steps took, and expects the rest at the same pace', () => {
    const store = temporaryStore();
    const runId = addRun(store, { maxSteps: 10 });
    for (const step of [1, 2]) store.metrics.record(runId, step, { step_time: 900 });
    store.runs.advance(runId, 2);
    const { spent, left } = runCost(store, runId, { hourly_price: 2, currency: '€' });
    expect(spent).toEqual({ seconds: 1800, cost: 1, currency: '€' });
    expect(left).toEqual({ seconds: 7200, cost: 4, currency: '€' });
  });

  it('expects nothing of a run without steps, and has no price where none is set', () => {
    const store = temporaryStore();
    const { left } = runCost(store, addRun(store, {}), { hourly_price: 0, currency: '$' });
    expect(left).toEqual({ seconds: 0, cost: null, currency: '$' });
    expect(costOf(3600, { hourly_price: 3, currency: '$' }).cost).toBe(3);
  });

  it("adds what evaluations cost: the engine's tokens, and judges", () => {
    const store = temporaryStore();
    const runId = addRun(store, { maxSteps: 4 });
    for (const step of [1, 2]) store.metrics.record(runId, step, { step_time: 900, 'engine/cost': 3 });
    store.runs.advance(runId, 2);
    const numbers = { n: 1, mean: 0.5, low: null, high: null, exactMatch: null, duringTraining: true };
    for (const step of [0, 2]) {
      const metrics = { eval_engine_cost: 0.25, eval_reward_cost: 1 };
      store.evaluations.add(
        { ...numbers, runId, checkpointId: null, model: 'tiny', dataset: 'a.test.jsonl', step, metrics },
        [],
      );
    }
    const { spent, left } = runCost(store, runId, { hourly_price: 2, currency: '€' });
    expect(spent.cost).toBe(2 * 3 + 2 * 1.25);
    expect(left.cost).toBe(2 * 3);
  });

  it.each([
    ['an engine and a judge', { 'engine/cost': 3, reward_cost: 1 }, 4, { eval_engine_cost: 4, eval_reward_cost: 1 }],
    ['this machine by the hour', {}, 0.5, {}],
  ])('counts steps that a resume took back, however often: %s', (_, metrics, each, evaluated) => {
    const store = temporaryStore();
    const runId = addRun(store, { maxSteps: 10 });
    const numbers = { n: 1, mean: 0.5, low: null, high: null, exactMatch: null, duringTraining: true };
    const paid = { ...numbers, checkpointId: null, model: 'tiny', dataset: 'a.test.jsonl' };
    const train = (from: number, to: number): void => {
      for (let step = from; step <= to; step++) store.metrics.record(runId, step, { step_time: 900, ...metrics });
      store.runs.advance(runId, to);
      store.evaluations.add({ ...paid, runId, step: to, metrics: evaluated }, []);
      interruptRun(store, runId, 'killed');
    };
    const resume = (step: number): void => void rewindRun(store, claimRun(store, runId), step);
    const cost = () => runCost(store, runId, { hourly_price: 2, currency: '€' });
    const test = Object.values(evaluated).reduce((sum, one) => sum + one, 0);
    train(1, 5);
    resume(4);
    train(5, 6);
    expect(cost().spent).toEqual({ seconds: 7 * 900, cost: 7 * each + 2 * test, currency: '€' });
    resume(2);
    train(3, 4);
    expect(cost().spent).toEqual({ seconds: 9 * 900, cost: 9 * each + 3 * test, currency: '€' });
    expect(cost().left).toEqual({ seconds: 6 * 900, cost: 6 * each, currency: '€' });
  });
});

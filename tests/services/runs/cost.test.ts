import { describe, expect, it } from 'vitest';
import { costOf, runCost } from '../../../main/services/runs/cost.ts';
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
});

import { describe, expect, it } from 'vitest';
import { addRun, sampleOf, temporaryStore } from './helpers.ts';

describe('samples', () => {
  it('reads a sample back as it was sent', () => {
    const store = temporaryStore();
    const run = addRun(store);
    const sample = sampleOf({
      failure: 'reward.ts:1:1: no',
      components: { alignment: 0.75, order: Number.NaN },
      terminated: false,
      promptMessages: [{ role: 'user', content: 'Hi' }],
    });
    store.samples.record(run, 5, [sample]);
    expect(store.samples.byStep(run, 5)).toEqual([{ ...sample, runId: run, step: 5 }]);
    expect(store.samples.steps(run)).toEqual([5]);
  });

  it('tells a step in numbers, group by group, and each step of a run', () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.samples.record(run, 1, [
      sampleOf({ group: 1, index: 0, reward: 0.1 }),
      sampleOf({ group: 0, index: 1, reward: 0.9 }),
      sampleOf({ group: 0, index: 0, reward: Number.NaN }),
    ]);
    store.samples.record(run, 2, [sampleOf({ reward: Number.NaN })]);
    expect(store.samples.factsOfStep(run, 1).map(({ group, index, reward }) => [group, index, reward])).toEqual([
      [0, 0, Number.NaN],
      [0, 1, 0.9],
      [1, 0, 0.1],
    ]);
    expect(store.samples.factsOfStep(run, 1)[0]).not.toHaveProperty('completion');
    expect(store.samples.rewardsByStep(run)).toEqual([
      { step: 1, n: 3, mean: 0.5, lowest: 0.1, highest: 0.9 },
      { step: 2, n: 1, mean: Number.NaN, lowest: Number.NaN, highest: Number.NaN },
    ]);
  });

  it('gives one completion by its place', () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.samples.record(run, 1, [sampleOf({ group: 2, index: 3, completion: 'this one' })]);
    expect(store.samples.get({ runId: run, step: 1, group: 2, index: 3 })?.completion).toBe('this one');
    expect(store.samples.get({ runId: run, step: 1, group: 3, index: 2 })).toBeUndefined();
  });

  it('knows the run that was kept of last', () => {
    const store = temporaryStore();
    expect(store.samples.newestRun()).toBeUndefined();
    const [one, two] = [addRun(store), addRun(store)];
    store.samples.record(two, 1, [sampleOf()]);
    store.samples.record(one, 1, [sampleOf()]);
    expect(store.samples.newestRun()).toBe(one);
  });

  it('follows one record through the run', () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.samples.record(run, 1, [sampleOf(), sampleOf({ index: 1, recordId: 'r2' })]);
    store.samples.record(run, 2, [sampleOf({ completion: 'better' })]);
    expect(store.samples.factsOfRecord(run, 'r1').map((sample) => sample.step)).toEqual([1, 2]);
  });
});

import { describe, expect, it } from 'vitest';
import { searchQuery } from '../../main/store/samples.ts';
import { addRun, sampleOf, temporaryStore } from './helpers.ts';

describe('samples', () => {
  it('reads a sample back as it was sent', () => {
    const store = temporaryStore();
    const run = addRun(store);
    const sample = sampleOf({ components: { alignment: 0.75, order: Number.NaN }, terminated: false });
    store.samples.record(run, 5, [sample]);
    expect(store.samples.byStep(run, 5)).toEqual([{ ...sample, runId: run, step: 5 }]);
    expect(store.samples.steps(run)).toEqual([5]);
  });

  it('gives the best, the worst and the group of a prompt', () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.samples.record(run, 1, [
      sampleOf({ index: 0, reward: 0.2 }),
      sampleOf({ index: 1, reward: 0.9 }),
      sampleOf({ group: 1, index: 0, reward: 0.1 }),
      sampleOf({ group: 1, index: 1, reward: Number.NaN }),
    ]);
    expect(store.samples.best(run, 1, 2).map((sample) => sample.reward)).toEqual([0.9, 0.2]);
    expect(store.samples.worst(run, 1)[0]?.reward).toBe(0.1);
    expect(store.samples.worst(run, 1, 4).at(-1)?.reward).toBeNaN();
    expect(store.samples.group(run, 1, 1).map((sample) => sample.index)).toEqual([0, 1]);
  });

  it('overwrites a sample that is sent again, in the search index too', () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.samples.record(run, 1, [sampleOf({ completion: 'walrus' })]);
    store.samples.record(run, 1, [sampleOf({ completion: 'penguin' })]);
    expect(store.samples.byStep(run, 1)).toHaveLength(1);
    expect(store.samples.search({ words: 'walrus' })).toEqual([]);
    expect(store.samples.search({ words: 'penguin' })).toHaveLength(1);
  });

  it('finds samples by words, across runs or in one, and forgets those discarded', () => {
    const store = temporaryStore();
    const [one, two] = [addRun(store), addRun(store)];
    store.samples.record(one, 1, [
      sampleOf({ completion: 'the quick fox' }),
      sampleOf({ index: 1, completion: 'a hen' }),
    ]);
    store.samples.record(two, 9, [sampleOf({ completion: 'the slow fox' })]);
    expect(store.samples.search({ words: 'fox the' })).toHaveLength(2);
    expect(store.samples.search({ words: 'fox', runId: two }).map((sample) => sample.step)).toEqual([9]);
    expect(store.samples.search({ words: 'qui' })).toHaveLength(1);
    expect(store.samples.search({ words: 'fox', limit: 1 })).toHaveLength(1);
    expect(store.samples.search({ words: '  ' })).toEqual([]);
    store.samples.discardAfter(two, 8);
    expect(store.samples.search({ words: 'slow' })).toEqual([]);
    store.runs.remove(one);
    expect(store.samples.search({ words: 'fox' })).toEqual([]);
  });

  it('takes operators and quotes in a search as plain words', () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.samples.record(run, 1, [sampleOf({ completion: 'she said "go" and NOT stay* (now)' })]);
    for (const words of ['"go"', 'NOT', 'stay*', '(now)', 'said OR', '*', '"', 'completion: AND', '^', '-x']) {
      expect(() => store.samples.search({ words })).not.toThrow();
    }
    expect(store.samples.search({ words: '"go" NOT' })).toHaveLength(1);
    expect(searchQuery('a "b')).toBe('"a" """b"*');
  });

  it('orders by a reward component and averages components by step', () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.samples.record(run, 1, [
      sampleOf({ index: 0, components: { 'a "b"': 0.5, hook: 0 } }),
      sampleOf({ index: 1, components: { 'a "b"': 0.25, hook: 1 } }),
      sampleOf({ index: 2, components: { 'a "b"': Number.NaN, hook: 0.5 } }),
    ]);
    expect(store.samples.byComponent(run, 'a "b"', 'lowest').map((sample) => sample.index)).toEqual([1, 0]);
    expect(store.samples.byComponent(run, 'hook', 'highest', 1).map((sample) => sample.index)).toEqual([1]);
    expect(store.samples.componentMeans(run)).toEqual([
      { step: 1, name: 'a "b"', mean: 0.375 },
      { step: 1, name: 'hook', mean: 0.5 },
    ]);
  });

  it('follows one record through the run', () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.samples.record(run, 1, [sampleOf(), sampleOf({ index: 1, recordId: 'r2' })]);
    store.samples.record(run, 2, [sampleOf({ completion: 'better' })]);
    expect(store.samples.ofRecord(run, 'r1').map((sample) => sample.step)).toEqual([1, 2]);
  });
});

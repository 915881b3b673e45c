import { describe, expect, it } from 'vitest';
import {
  newestSamples,
  readSample,
  recordThroughRun,
  runSamples,
  stepSamples,
} from '../../../../main/services/runs/samples/samples.ts';
import { addRun, errorOf, sampleOf, temporaryStore } from '../../../store/helpers.ts';

function storeWithRun() {
  const store = temporaryStore();
  const run = addRun(store, { name: 'first', configJson: '{"sample_steps":5}' });
  store.samples.record(run, 5, [sampleOf(), sampleOf({ index: 1, reward: 0.25, completion: 'blue' })]);
  store.runs.advance(run, 5);
  return { store, run };
}

describe('runSamples', () => {
  it('tells what was kept, and how often it is', () => {
    const { store, run } = storeWithRun();
    expect(runSamples(store, run)).toMatchObject({
      name: 'first',
      step: 5,
      sampleSteps: 5,
      steps: [{ step: 5, n: 2, mean: 0.5, lowest: 0.25, highest: 0.75 }],
    });
    expect(newestSamples(store)).toBe(run);
  });

  it('is empty for a run without samples, and says when a run is gone', () => {
    const store = temporaryStore();
    expect(newestSamples(store)).toBeNull();
    expect(runSamples(store, addRun(store)).steps).toEqual([]);
    expect(errorOf(() => runSamples(store, 99))).toMatchObject({ code: 'RUN_UNKNOWN' });
  });
});

describe('stepSamples and readSample', () => {
  it('give the completions of a step and each with its words against the target', () => {
    const { store, run } = storeWithRun();
    expect(stepSamples(store, run, 5).map(({ index }) => index)).toEqual([0, 1]);
    const sample = readSample(store, { runId: run, step: 5, group: 0, index: 0 });
    expect(sample.runName).toBe('first');
    expect(sample.alignment).toMatchObject({ firstError: 3, counts: { match: 3, missing: 1 } });
  });

  it('have no alignment in a task without an exact target', () => {
    const store = temporaryStore();
    const run = addRun(store, { task: 'reply', taskShow: 'beside' });
    store.samples.record(run, 1, [sampleOf()]);
    expect(readSample(store, { runId: run, step: 1, group: 0, index: 0 }).alignment).toBeNull();
  });

  it('say that a step was not kept, or is beyond where the run is', () => {
    const { store, run } = storeWithRun();
    expect(errorOf(() => stepSamples(store, run, 4))).toMatchObject({
      code: 'SAMPLES_GONE',
      message: 'No completions of step 4 of first were stored',
    });
    const gone = {
      code: 'SAMPLES_GONE',
      message: expect.stringContaining('step 10: first is at step 5'),
    };
    expect(errorOf(() => stepSamples(store, run, 10))).toMatchObject(gone);
    expect(errorOf(() => readSample(store, { runId: run, step: 10, group: 0, index: 0 }))).toMatchObject(gone);
  });
});

describe('recordThroughRun', () => {
  it("gives each step's best, worst and mean, without those that have no reward in the mean", () => {
    const { store, run } = storeWithRun();
    store.samples.record(run, 10, [sampleOf({ reward: 1 }), sampleOf({ index: 1, reward: Number.NaN })]);
    const steps = recordThroughRun(store, run, 'r1');
    expect(steps.map(({ step, n, mean, best, worst }) => [step, n, mean, best.index, worst.index])).toEqual([
      [5, 2, 0.5, 0, 1],
      [10, 2, 1, 0, 1],
    ]);
  });

  it('says that the run has no such record', () => {
    const { store, run } = storeWithRun();
    expect(errorOf(() => recordThroughRun(store, run, 'r9'))).toMatchObject({
      code: 'RECORD_UNKNOWN',
      message: 'There are no completions of record "r9" in first',
    });
  });
});

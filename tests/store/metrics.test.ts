import { describe, expect, it } from 'vitest';
import { addRun, temporaryStore } from './helpers.ts';

describe('metrics', () => {
  it('reads back whole series, ranges and several names', () => {
    const store = temporaryStore();
    const run = addRun(store);
    for (let step = 1; step <= 4; step++) store.metrics.record(run, step, { reward: step / 4, loss: -step });
    expect(store.metrics.names(run)).toEqual(['loss', 'reward']);
    expect(store.metrics.series(run, 'reward', { from: 2, to: 3 })).toEqual([
      { step: 2, value: 0.5 },
      { step: 3, value: 0.75 },
    ]);
    expect(Object.keys(store.metrics.seriesOf(run, ['reward', 'loss']))).toEqual(['reward', 'loss']);
    expect(store.metrics.latest(run)).toEqual({ loss: { step: 4, value: -4 }, reward: { step: 4, value: 1 } });
    expect(store.metrics.series(run, 'none')).toEqual([]);
    expect(store.metrics.buckets(run, 'none', 10)).toEqual([]);
  });

  it('keeps the overview of a series true when steps are sent again or taken back', () => {
    const store = temporaryStore();
    const run = addRun(store);
    const values = Array.from({ length: 60 }, (_, i) => (i === 7 ? Number.NaN : i));
    for (const [step, reward] of values.entries()) store.metrics.record(run, step, { reward });
    expect(store.metrics.overall(run, 'reward')).toEqual({ count: 59, mean: (59 * 30 - 7) / 59, max: 59 });
    store.metrics.record(run, 3, { reward: 1000 });
    expect(store.metrics.overall(run, 'reward')).toMatchObject({ count: 59, max: 1000 });
    store.metrics.record(run, 3, { reward: 3 });
    store.metrics.discardAfter(run, 44);
    expect(store.metrics.overall(run, 'reward')).toEqual({ count: 44, mean: (45 * 22 - 7) / 44, max: 44 });
    expect(store.metrics.bounds(run, 'reward')).toEqual({ from: 0, to: 44 });
    store.metrics.discardAfter(run, -1);
    expect(store.metrics.overall(run, 'reward')).toEqual({ count: 0, mean: Number.NaN, max: Number.NaN });
    expect(store.metrics.bounds(run, 'reward')).toBeNull();
  });

  it('overwrites a step that is sent again', () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.metrics.record(run, 1, { reward: 0.1 });
    store.metrics.record(run, 1, { reward: 0.2 });
    expect(store.metrics.series(run, 'reward')).toEqual([{ step: 1, value: 0.2 }]);
  });

  it('keeps NaN and infinities', () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.metrics.record(run, 1, { loss: Number.NaN, kl: Number.POSITIVE_INFINITY });
    expect(store.metrics.latest(run)).toEqual({
      kl: { step: 1, value: Number.POSITIVE_INFINITY },
      loss: { step: 1, value: Number.NaN },
    });
    expect(store.metrics.buckets(run, 'loss', 1)).toEqual([
      { firstStep: 1, lastStep: 1, min: Number.NaN, max: Number.NaN, mean: Number.NaN, count: 0 },
    ]);
  });

  it('computes min, max and mean of 100,000 values in equal buckets', () => {
    const store = temporaryStore();
    const run = addRun(store);
    const valueAt = (step: number) => Math.sin(step) * step;
    store.transaction(() => {
      for (let step = 0; step < 100_000; step++) store.metrics.record(run, step, { reward: valueAt(step) });
    });
    const buckets = store.metrics.buckets(run, 'reward', 200);
    expect(buckets).toHaveLength(200);
    for (const [index, bucket] of buckets.entries()) {
      const values = Array.from({ length: 500 }, (_, i) => valueAt(index * 500 + i));
      expect(bucket).toMatchObject({ firstStep: index * 500, lastStep: index * 500 + 499, count: 500 });
      expect(bucket.min).toBe(Math.min(...values));
      expect(bucket.max).toBe(Math.max(...values));
      expect(bucket.mean).toBeCloseTo(values.reduce((a, b) => a + b) / 500, 6);
    }
    const part = store.metrics.bucketsOf(run, ['reward'], 3, { from: 10, to: 15 }).reward ?? [];
    expect(part.map((bucket) => [bucket.firstStep, bucket.lastStep])).toEqual([
      [10, 11],
      [12, 13],
      [14, 15],
    ]);
  });

  it('leaves out what lies outside a range, however wide its buckets are', () => {
    const store = temporaryStore();
    const run = addRun(store);
    store.transaction(() => {
      for (let step = 0; step < 10_000; step++) store.metrics.record(run, step, { reward: step === 0 ? 1e9 : step });
    });
    for (const [from, to] of [
      [7, 9_991],
      [20, 9_979],
      [39, 9_980],
      [7, 20_000],
    ] as const)
      for (const count of [1, 2, 7, 100]) {
        const found = store.metrics.buckets(run, 'reward', count, { from, to });
        const last = Math.min(to, 9_999);
        expect([found[0]?.firstStep, found[0]?.min, found.at(-1)?.lastStep, found.at(-1)?.max]).toEqual([
          ...[from, from],
          ...[last, last],
        ]);
        expect(found.reduce((sum, bucket) => sum + bucket.count, 0)).toBe(last - from + 1);
        for (const { firstStep, lastStep, mean } of found) expect(mean).toBeCloseTo((firstStep + lastStep) / 2, 9);
      }
  });

  it('gives one bucket a step when there are fewer steps than buckets', () => {
    const store = temporaryStore();
    const run = addRun(store);
    for (let step = 1; step <= 3; step++) store.metrics.record(run, step, { reward: step });
    expect(store.metrics.buckets(run, 'reward', 100).map((bucket) => bucket.mean)).toEqual([1, 2, 3]);
  });

  it('forgets what is beyond a step, in that run only', () => {
    const store = temporaryStore();
    const run = addRun(store);
    const other = addRun(store);
    for (let step = 1; step <= 3; step++) {
      store.metrics.record(run, step, { reward: step });
      store.metrics.record(other, step, { reward: step });
    }
    store.metrics.discardAfter(run, 1);
    expect(store.metrics.series(run, 'reward')).toHaveLength(1);
    expect(store.metrics.series(other, 'reward')).toHaveLength(3);
  });
});

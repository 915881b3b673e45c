import { describe, expect, it } from 'vitest';
import type { MetricBucket } from '../../../main/store/metrics.ts';
import { extremes } from '../../../renderer/run/best-and-worst.ts';
import { discardedBy } from '../../../renderer/run/discarded.ts';
import { panelsFor } from '../../../renderer/run/panels.ts';
import { metricSeries, stepsAround } from '../../../renderer/run/series.ts';
import { markersOf, timelineOf } from '../../../renderer/run/timeline.ts';

const look = { label: 'reward', colour: 'strand-a' } as const;

function bucket(firstStep: number, lastStep: number, mean: number): MetricBucket {
  return { firstStep, lastStep, min: mean - 1, max: mean + 1, mean, count: lastStep - firstStep + 1 };
}

const tail = [4, 5, 6].map((step) => ({ step, metrics: { reward: step * 10 } }));

describe('metricSeries', () => {
  it('continues buckets with the steps after them', () => {
    expect(metricSeries('reward', look, [bucket(1, 2, 3), bucket(3, 4, 5)], tail, null)).toMatchObject({
      id: 'reward',
      x: [2, 4, 5, 6],
      y: [3, 5, 50, 60],
      low: [2, 4, 50, 60],
      high: [4, 6, 50, 60],
      counts: [2, 2, 1, 1],
    });
  });

  it('has no band where each bucket is one step, and ends with the zoom', () => {
    const series = metricSeries('reward', look, [bucket(4, 4, 1)], tail, { from: 1, to: 5.5 });
    expect(series.x).toEqual([4, 5]);
    expect(series.low).toBe(undefined);
  });

  it('skips steps that lack the metric', () => {
    expect(metricSeries('kl', look, [], tail, null).x).toEqual([]);
  });
});

describe('stepsAround', () => {
  it('includes the whole steps at both ends', () => {
    expect(stepsAround({ from: 1.2, to: 7.1 })).toEqual({ from: 1, to: 8 });
    expect(stepsAround({ from: -3, to: 0.5 })).toEqual({ from: 0, to: 1 });
  });
});

describe('panelsFor', () => {
  const idsOf = (names: readonly string[]): readonly string[] => panelsFor(names).map(({ id }) => id);

  it('shows only charts with a logged metric, such as KL', () => {
    expect(idsOf(['entropy', 'loss'])).toEqual(['entropy', 'loss']);
    expect(idsOf(['kl'])).toEqual(['kl']);
    expect(Object.keys(panelsFor(['time/step'])[0]?.looks ?? {})).toEqual(['time/step']);
  });

  it('shows the components of a reward that has several', () => {
    expect(idsOf(['rewards/alignment/mean'])).toEqual([]);
    const [components] = panelsFor(['rewards/wit/mean', 'rewards/length/mean', 'rewards/wit/std']);
    expect(components?.id).toBe('components');
    expect(Object.values(components?.looks ?? {}).map(({ label }) => label)).toEqual(['wit', 'length']);
  });
});

const event = { id: 1, runId: 1, at: 5, data: null, remedy: null } as const;
const checkpoint = { id: 7, runId: 1, path: '/c', kind: 'periodic', createdAt: 4, deletedAt: null } as const;

describe('timelineOf', () => {
  const entries = timelineOf({
    events: [
      { ...event, step: 10, kind: 'paused', severity: 'info', message: 'Paused' },
      { ...event, id: 2, step: 3, kind: 'warning', severity: 'warning', message: 'Entropy falls', remedy: 'Cool it.' },
      { ...event, id: 3, step: 0, kind: 'ready', severity: 'info', message: 'wasm' },
    ],
    checkpoints: [
      { ...checkpoint, step: 10 },
      { ...checkpoint, id: 8, step: 5, deletedAt: 9 },
    ],
  });

  it('merges events and existing checkpoints, newest first', () => {
    expect(entries.map(({ step, kind, name }) => [step, kind, name])).toEqual([
      [10, 'pause', 'paused'],
      [10, 'checkpoint', 'checkpoint'],
      [3, 'warning', 'warning'],
      [0, 'info', 'ready'],
    ]);
  });

  it('marks everything but info entries, once per step and kind', () => {
    expect(markersOf([...entries, ...entries]).map(({ at, kind }) => [at, kind])).toEqual([
      [10, 'pause'],
      [10, 'checkpoint'],
      [3, 'warning'],
    ]);
  });
});

describe('discardedBy', () => {
  const run = {
    step: 20,
    checkpoints: [5, 10, 15].map((step) => ({ ...checkpoint, id: step, step, deletedAt: step === 15 ? 1 : null })),
    sampleSteps: [1, 10, 20],
    evaluations: [],
  };

  it('names what is discarded', () => {
    expect(discardedBy(run, 5)).toBe(
      'the metrics of steps 6 to 20, 2 steps of completions and the checkpoint of step 10',
    );
    expect(discardedBy(run, 19)).toBe('the metrics of step 20 and 1 step of completions');
  });

  it('is null if nothing is discarded', () => {
    expect(discardedBy(run, 20)).toBe(null);
  });
});

describe('extremes', () => {
  it('finds the best and the worst that have a reward', () => {
    const [a, b, c] = [{ reward: 0.5 }, { reward: Number.NaN }, { reward: 0.9 }];
    expect(extremes([a, b, c])).toEqual({ best: c, worst: a });
    expect(extremes([b])).toEqual({ best: undefined, worst: undefined });
  });
});

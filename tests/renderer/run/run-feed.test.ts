import { describe, expect, it } from 'vitest';
import type { RunNews } from '../../../main/services/training/run-watch.ts';
import { applyUpdate, hasEnded, openFeed, type RunFeed } from '../../../renderer/run/run-feed.ts';

/** Only the fields that the feed uses. */
function news(steps: readonly number[], rewoundTo: number | null = null): RunNews {
  const points = steps.map((step) => ({ step, metrics: { reward: step } }));
  return { run: { id: 1 }, live: null, verdict: {}, points, rewoundTo } as unknown as RunNews;
}

function fed(...all: readonly RunNews[]): RunFeed {
  const feed = all.reduce<RunFeed | null>(applyUpdate, null);
  if (feed === null) throw new Error('Expected some news');
  return feed;
}

function span(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}

const stepsOf = ({ tail }: RunFeed): readonly number[] => tail.map(({ step }) => step);

describe('openFeed', () => {
  it("continues with the steps after the run's current one", () => {
    const opened = openFeed({ run: { id: 1, step: 57 }, live: null, verdict: {} } as unknown as RunNews);
    expect(opened).toMatchObject({ tail: [], generation: 0 });
    expect(stepsOf(applyUpdate(opened, news([58, 59])))).toEqual([58, 59]);
  });
});

describe('applyUpdate', () => {
  it('opens with the first update, at any step', () => {
    expect(fed(news([], 57))).toMatchObject({ tail: [], generation: 0 });
  });

  it('collects each step once, however often it arrives', () => {
    expect(stepsOf(fed(news([]), news([58, 59]), news([59, 60])))).toEqual([58, 59, 60]);
  });

  it('drops the steps of a run that was rolled back, and rereads the charts', () => {
    const feed = fed(news([1, 2, 3]), news([3], 2));
    expect(stepsOf(feed)).toEqual([1, 2, 3]);
    expect(feed.generation).toBe(1);
    expect(stepsOf(fed(news([1, 2, 3]), news([], 0)))).toEqual([]);
  });

  it('rereads the charts when the tail has grown long, and keeps it bounded', () => {
    expect(fed(news([]), news(span(1, 299))).generation).toBe(0);
    expect(fed(news([]), news(span(1, 299)), news([300])).generation).toBe(1);
    const long = fed(news([]), news(span(1, 4000)), news(span(4001, 6000)));
    expect([long.tail.length, long.tail[0]?.step]).toEqual([4000, 2001]);
    // Also once it is full: what leaves it must have been reread.
    const blocks = Array.from({ length: 40 }, (_, i) => news(span(1 + 300 * i, 300 * (i + 1))));
    expect(fed(news([]), ...blocks).generation).toBe(40);
  });

  it('keeps the same tail object if no step arrived', () => {
    const before = fed(news([1]));
    expect(applyUpdate(before, news([])).tail).toBe(before.tail);
  });
});

describe('hasEnded', () => {
  const feed = (state: string, live: object | null) => ({ run: { state }, live }) as Pick<RunFeed, 'run' | 'live'>;

  it('is false while a process trains it, here or in a terminal', () => {
    expect(hasEnded(feed('done', null))).toBe(true);
    expect(hasEnded(feed('interrupted', null))).toBe(true);
    expect(hasEnded(feed('running', null))).toBe(false);
    // A run that is resumed has its old state until the trainer is ready.
    expect(hasEnded(feed('stopped', { state: 'starting' }))).toBe(false);
  });
});

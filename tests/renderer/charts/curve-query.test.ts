import { environmentManager, QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { curveMetric, curveQuery } from '../../../renderer/charts/curve-query.ts';

const early = { id: 3, state: 'running', step: 2, method: 'grpo' } as const;
const ended = { id: 3, state: 'done', step: 12, method: 'grpo' } as const;

/** A page that shows a run's curve, and how often it has asked for it. */
function openCurve(run: Parameters<typeof curveQuery>[0]) {
  const queries = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  let asked = 0;
  const queryFn = async () => ({ reward: [{ firstStep: ++asked, mean: 0.5, min: 0, max: 1 }] });
  const optionsOf = (shown: typeof run) => ({ ...curveQuery(shown), queryFn }) as object as { queryKey: unknown[] };
  const observer = new QueryObserver(queries, optionsOf(run));
  let leave = observer.subscribe(() => undefined);
  onTestFinished(() => leave());
  return {
    asked: () => asked,
    data: () => observer.getCurrentResult().data,
    becomes: (next: typeof run) => observer.setOptions(optionsOf(next)),
    reopen: () => {
      leave();
      leave = observer.subscribe(() => undefined);
    },
  };
}

describe('curveMetric', () => {
  it('is the loss of supervised training, which has no rewards', () => {
    const methods = ['grpo', 'polychromic-grpo', 'sft', 'polychromic-sft'];
    expect(methods.map((method) => curveMetric({ method }))).toEqual(['reward', 'reward', 'loss', 'loss']);
  });
});

describe('curveQuery', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    environmentManager.setIsServer(() => false);
  });
  afterEach(() => {
    vi.useRealTimers();
    environmentManager.setIsServer(() => typeof window === 'undefined');
  });

  it('is asked for again while a run trains, and whenever it is shown again', async () => {
    const curve = openCurve(early);
    await vi.advanceTimersByTimeAsync(100);
    expect(curve.asked()).toBe(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(curve.asked()).toBe(4);
    curve.reopen();
    await vi.advanceTimersByTimeAsync(100);
    expect(curve.asked()).toBe(5);
  });

  it('is asked for once more where the run ended, and keeps the old one until then', async () => {
    const curve = openCurve(early);
    await vi.advanceTimersByTimeAsync(100);
    curve.becomes(ended);
    expect(curve.data()).toMatchObject({ reward: [{ firstStep: 1 }] });
    await vi.advanceTimersByTimeAsync(100);
    expect(curve.data()).toMatchObject({ reward: [{ firstStep: 2 }] });
    await vi.advanceTimersByTimeAsync(60_000);
    curve.reopen();
    await vi.advanceTimersByTimeAsync(100);
    expect(curve.asked()).toBe(2);
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openLiveBoard, topicsOf } from '../../../main/services/training/live-board.ts';
import { advance, asked, type LiveStatus, liveStatus } from '../../../main/services/training/live-status.ts';
import type { LiveRun } from '../../../main/services/training/training.ts';
import type { RunRow } from '../../../main/store/runs.ts';
import { WARM_UP_LOSS } from '../../../main/trainer/config/config.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';

const alive: TrainerEvent = { kind: 'alive' };
const step: TrainerEvent = { kind: 'step', step: 3, metrics: { step_time: 2, reward: 0.5 } };
const row = { id: 7, name: 'a', stageId: null, step: 2, maxSteps: 10, configJson: '{}' } as RunRow;
const status: LiveStatus = {
  ...liveStatus(row, { host: 1, gpu: 0 }, 0),
  state: 'running',
  secondsPerStep: 2,
};
const run = { runId: 7 } as LiveRun;

describe('asked', () => {
  const paused: TrainerEvent = { kind: 'paused', step: 3, reason: 'asked for', byWatch: false };

  it('is what the trainer has not answered yet', () => {
    const pausing = asked(status, 'pause');
    expect(pausing).toMatchObject({ state: 'running', asked: 'pause' });
    expect(asked(pausing, 'resume')).toMatchObject({ state: 'running', asked: null });
    const held = advance(advance(pausing, step), paused);
    expect(held).toMatchObject({ state: 'paused', asked: null });
    const resuming = asked(held, 'resume');
    expect(resuming).toMatchObject({ state: 'paused', asked: 'resume' });
    expect(advance(resuming, { kind: 'resumed', step: 3 })).toMatchObject({ state: 'running', asked: null });
  });

  it('lets nothing change a stop, and knows one without a step to finish', () => {
    const stopping = asked(asked(status, 'pause'), 'stop');
    expect(stopping).toMatchObject({ state: 'stopping', asked: null });
    expect(asked(stopping, 'pause')).toBe(stopping);
    expect(asked({ ...status, state: 'paused' }, 'stop')).toMatchObject({ state: 'stopping', asked: 'save' });
    // Its step is finished: what it does from then on is saving.
    expect(advance(stopping, step)).toMatchObject({ state: 'stopping', asked: 'save', step: 3 });
    expect(asked({ ...status, state: 'ending' }, 'stop')).toMatchObject({ state: 'ending' });
  });
});

describe('topicsOf', () => {
  it('spares the list of runs each step, and everyone a sign of life', () => {
    expect(topicsOf([alive])).toEqual([]);
    expect(topicsOf([alive, step])).toEqual(['run', 'status']);
    expect(topicsOf([{ kind: 'resumed' } as TrainerEvent, step])).toEqual(['run', 'status', 'runs']);
  });
});

describe('advance', () => {
  it('replaces the estimate of a step by the first measured one, and then takes the mean of the last', () => {
    const steps = (...seconds: readonly number[]) =>
      seconds.map((step_time, i): TrainerEvent => ({ kind: 'step', step: i + 1, metrics: { step_time } }));
    const guessed = { ...status, secondsPerStep: 690 };
    const [first, second, third] = [steps(2), steps(2, 4), steps(2, 4, 6, 4, 4, 14)].map((events) =>
      events.reduce(advance, guessed),
    );
    expect(first).toMatchObject({ secondsPerStep: 2, secondsLeft: 18 });
    expect(second?.secondsPerStep).toBe(3);
    // Of the evaluations after steps 3, 6, 9 and 10 three are to come: as long as the newest.
    const plan = { eval_steps: 3, warm_up_steps: 0, max_steps: 10 };
    const evaluated = { ...guessed, evaluations: { ...plan, seconds: null } };
    const [event] = steps(2);
    const fourth = { ...event, step: 4, metrics: { step_time: 2, 'time/evaluation': 30 } } as TrainerEvent;
    expect(advance(evaluated, fourth).secondsLeft).toBe(6 * 2 + 3 * 30);
    expect(third?.secondsPerStep).toBeCloseTo(6, 10);
    // Before one is measured, as long as estimated.
    const estimate = { secondsPerStep: 2, secondsPerEvaluation: 50, seconds: 210, memoryBytes: 1, activationMb: 1 };
    const estimated = advance(evaluated, { kind: 'estimate', step: 2, ...estimate });
    expect(advance(estimated, { ...event, step: 4 } as TrainerEvent).secondsLeft).toBe(6 * 2 + 3 * 50);
  });

  it('measures the steps of a warm-up apart from those after it', () => {
    const evaluations = { eval_steps: 3, warm_up_steps: 6, max_steps: 4, seconds: 50 };
    const estimated = { ...status, secondsPerStep: 2, secondsLeft: 99, evaluations };
    const warmUp = (step: number, step_time: number): TrainerEvent => ({
      kind: 'step',
      step,
      metrics: { step_time, 'time/evaluation': 45, [WARM_UP_LOSS]: 1 },
    });
    // However slow its steps are: those after it take what was estimated, evaluations follow steps 6, 9 and 10.
    const third = advance(estimated, warmUp(3, 40));
    expect(third).toMatchObject({ secondsPerStep: 2, measured: 0, secondsLeft: 3 * 40 + 4 * 2 + 3 * 45 });
    expect(advance(third, warmUp(4, 80)).secondsLeft).toBe(2 * 50 + 4 * 2 + 3 * 45);
  });
});

describe('advance on a GPU', () => {
  it("keeps what the trainer holds of the GPU's memory and the most so far, where a step tells", () => {
    const metrics = { gpu_memory_mb: 100, gpu_memory_peak_mb: 250 };
    const told = advance(status, { kind: 'step', step: 3, metrics });
    expect(told).toMatchObject({ gpuBytes: 100 * 2 ** 20, gpuPeakBytes: 250 * 2 ** 20 });
    expect(advance(told, step)).toMatchObject({ gpuBytes: 100 * 2 ** 20, gpuPeakBytes: 250 * 2 ** 20 });
  });
});

describe('openLiveBoard', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('follows a run from its start to its end', () => {
    const publish = vi.fn();
    const board = openLiveBoard({ publish });
    const heard: number[] = [];
    board.onEvents((runId, events) => heard.push(runId, events.length));
    board.add(run, status);
    board.hear(7, [step]);
    expect(board.get(7)).toMatchObject({ step: 3, reward: 0.5, secondsLeft: 14 });
    board.hear(7, [alive]);
    expect(heard).toEqual([7, 1]);
    // A stop that was asked for after a resume stays one when the resume is reported late.
    board.asked(7, 'stop');
    board.hear(7, [{ kind: 'resumed' } as TrainerEvent]);
    expect(board.get(7)?.state).toBe('stopping');
    board.remove({ runId: 7 } as Parameters<typeof board.remove>[0]);
    expect(board.list()).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('leaves a run that is ending as it is when a stop arrives late', () => {
    const board = openLiveBoard({ publish: vi.fn() });
    board.add(run, status);
    board.hear(7, [{ kind: 'done' } as TrainerEvent]);
    board.asked(7, 'stop');
    expect(board.get(7)?.state).toBe('ending');
    board.remove({ runId: 7 } as Parameters<typeof board.remove>[0]);
  });

  it('reports a trainer that is silent, and that it is back', () => {
    const publish = vi.fn();
    const board = openLiveBoard({ publish }, { everyMs: 1000, shortestMs: 5000 });
    board.add(run, { ...status, secondsPerStep: 0.1 });
    vi.advanceTimersByTime(4000);
    expect(board.get(7)?.silentSeconds).toBeNull();
    vi.advanceTimersByTime(2000);
    expect(board.get(7)?.silentSeconds).toBe(6);
    publish.mockClear();
    board.hear(7, [alive]);
    expect(board.get(7)?.silentSeconds).toBeNull();
    expect(publish.mock.calls).toEqual([['run', 7], ['status']]);
  });
});

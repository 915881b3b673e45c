import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCost } from '../../../main/services/runs/cost.ts';
import { recordEvents } from '../../../main/services/runs/events.ts';
import { findRun } from '../../../main/services/runs/find-run.ts';
import { runDetail } from '../../../main/services/runs/history.ts';
import { eventReport, runReport } from '../../../main/services/runs/run-report.ts';
import { runView } from '../../../main/services/runs/run-view.ts';
import { createRun, finishRun } from '../../../main/services/runs/runs.ts';
import { stepExtremes } from '../../../main/services/runs/samples/samples.ts';
import { openStore, type Store } from '../../../main/store/index.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { errorOf, sampleOf, temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const config = parseConfig({ dataset: 'datasets/10words.jsonl', max_steps: 40 });

function steps(from: number, to: number, reward = (step: number) => step / 40): TrainerEvent[] {
  return Array.from({ length: to - from + 1 }, (_, i) => {
    const step = from + i;
    return { kind: 'step', step, metrics: { reward: reward(step), loss: 0.01, step_time: 2 } };
  });
}

function started(store: Store, events: readonly TrainerEvent[] = []): number {
  const { runId } = createRun(store, config);
  recordEvents(store, runId, events);
  return runId;
}

describe('runView', () => {
  it('shows state, pace, curve, held-out scores, verdict, extremes and events', () => {
    const store = temporaryStore();
    const items = [{ id: 'a', completion: 'x', metrics: { alignment: 0.5 } }];
    const runId = started(store, [
      { kind: 'evaluation', step: 0, metrics: {}, items },
      ...steps(1, 10),
      { kind: 'samples', step: 10, samples: [sampleOf({ reward: 0.2, index: 1 }), sampleOf({ reward: 0.9 })] },
      { kind: 'warning', step: 10, rule: 'kl', message: 'KL is high', remedy: 'Lower the rate.' },
    ]);
    const view = runView(store, runId, 20);
    expect(view).toMatchObject({ live: true, secondsPerStep: 2, secondsLeft: 60, run: { state: 'running', step: 10 } });
    // A quarter of the steps takes a quarter of the points, each the mean of two steps.
    expect(view.curve).toMatchObject({ metric: 'reward', total: 20 });
    expect(view.curve.values.map((value) => value * 40)).toEqual(
      [1.5, 3.5, 5.5, 7.5, 9.5].map((x) => expect.closeTo(x)),
    );
    expect(view.heldOut).toMatchObject([{ step: 0, mean: 0.5, n: 1 }]);
    expect(view.extremes).toMatchObject({ step: 10, n: 2, best: { reward: 0.9 }, worst: { reward: 0.2 } });
    expect(view.verdict.title).toBe('learning');
    expect(view.events.map(({ kind }) => kind)).toEqual(['warning']);
  });

  it('counts the evaluations that are left, which no step time has', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, { ...config, eval_steps: 15 });
    const [first, ...more] = steps(1, 20);
    const timed = [first, ...more].map((event) =>
      event?.kind === 'step' && event.step % 15 === 1
        ? { ...event, metrics: { ...event.metrics, 'time/evaluation': 30 } }
        : event,
    );
    recordEvents(store, runId, timed as TrainerEvent[]);
    // After steps 30 and 40.
    expect(runView(store, runId).secondsLeft).toBe(20 * 2 + 2 * 30);
    const { spent, left } = runCost(store, runId, { hourly_price: 0, currency: '€' });
    expect([spent.seconds, left.seconds]).toEqual([20 * 2 + 2 * 30, 20 * 2 + 2 * 30]);
    const metrics = { 'time/evaluation': 30 };
    recordEvents(store, runId, [{ kind: 'done', step: 20, path: null, stopped: true, metrics }]);
    expect(runCost(store, runId, { hourly_price: 0, currency: '€' }).spent.seconds).toBe(20 * 2 + 3 * 30);
  });

  it('has of an evaluation its step and mean alone where the run stands', () => {
    const store = temporaryStore();
    const items = [{ id: 'a', completion: 'x', metrics: { alignment: 0.5 } }];
    const runId = started(store, [...steps(1, 10), { kind: 'evaluation', step: 10, metrics: {}, items }]);
    const score = { step: 10, mean: 0.5 };
    expect(runReport(runView(store, runId, 20)).standing).toEqual(
      expect.objectContaining({ newest: score, best: score }),
    );
  });

  it('takes the pace from the estimate before the first step, and has no curve then', () => {
    const store = temporaryStore();
    const estimate = { secondsPerStep: 3, seconds: 120, memoryBytes: 1, activationMb: 1 } as const;
    const runId = started(store, [{ kind: 'estimate', step: 0, ...estimate }]);
    const evaluated = { ...config, eval_steps: 10 };
    const { runId: other } = createRun(store, evaluated);
    recordEvents(store, other, [{ kind: 'estimate', step: 0, ...estimate, secondsPerEvaluation: 100 }]);
    expect(runView(store, other, 20, () => true).secondsLeft).toBe(120 + 4 * 100);
    expect(runView(store, runId)).toMatchObject({
      secondsPerStep: 3,
      secondsLeft: 120,
      extremes: null,
      heldOut: [],
      curve: { metric: 'reward', values: [] },
      verdict: { title: 'no steps yet' },
    });
  });

  it('shows a run whose process is gone as interrupted, and changes nothing', () => {
    const store = temporaryStore();
    const runId = started(store, steps(1, 3));
    const view = runView(store, runId, 20, () => false);
    expect(view).toMatchObject({ live: false, secondsLeft: null, run: { state: 'interrupted' } });
    expect(view.run.reason).toMatch(/process \(\d+\) no longer exists/);
    expect(store.runs.get(runId)?.state).toBe('running');
  });

  it('draws the loss of a supervised run, and leaves gaps', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, { ...config, method: 'sft', max_steps: 4 });
    recordEvents(store, runId, [
      { kind: 'step', step: 1, metrics: { loss: 3, step_time: 1 } },
      { kind: 'step', step: 2, metrics: { step_time: 1 } },
      { kind: 'step', step: 3, metrics: { loss: 2, step_time: 1 } },
    ]);
    expect(runView(store, runId, 4).curve).toEqual({ metric: 'loss', values: [3, Number.NaN, 2], total: 4 });
  });

  it('reads through a store that cannot write, and so do the details of a run', () => {
    const folder = temporaryFolder();
    const writer = temporaryStore(folder);
    const runId = started(writer, [
      ...steps(1, 2),
      { kind: 'checkpoint', step: 2, path: join(folder, 'outputs', 'gone') },
    ]);
    const reader = openStore(join(folder, 'braid.db'), { readOnly: true });
    expect(reader.snapshot(() => runView(reader, runId)).run.step).toBe(2);
    expect(runDetail(reader, runId).checkpoints).toMatchObject([{ step: 2, deletedAt: expect.any(Number) }]);
    recordEvents(writer, runId, steps(3, 3));
    expect(reader.changedElsewhere()).toBe(true);
    expect(runView(reader, runId).run.step).toBe(3);
    reader.close();
    expect(writer.checkpoints.ofRun(runId)).toMatchObject([{ deletedAt: null }]);
  });
});

describe('stepExtremes', () => {
  it('counts a completion without reward as the worst, and has no worst of one', () => {
    const store = temporaryStore();
    const runId = started(store, [
      { kind: 'samples', step: 1, samples: [sampleOf({ reward: Number.NaN }), sampleOf({ index: 1, reward: 0 })] },
      { kind: 'samples', step: 2, samples: [sampleOf()] },
    ]);
    expect(stepExtremes(store, runId, 1)).toMatchObject({ best: { reward: 0 }, worst: { reward: Number.NaN } });
    expect(stepExtremes(store, runId)).toMatchObject({ step: 2, n: 1, worst: null });
    expect(errorOf(() => stepExtremes(store, runId, 3))).toMatchObject({ code: 'SAMPLES_GONE' });
  });
});

describe('runReport and eventReport', () => {
  it('are JSON: without NaN, the same after parsing', () => {
    const store = temporaryStore();
    const runId = started(store, [
      { kind: 'step', step: 1, metrics: { reward: Number.NaN, step_time: 1 } },
      { kind: 'samples', step: 1, samples: [sampleOf({ reward: Number.NaN })] },
      { kind: 'warning', step: 1, rule: 'kl', message: 'KL is high', remedy: 'Stop.' },
    ]);
    const view = runView(store, runId);
    const report = runReport(view);
    expect(report).toMatchObject({ run_id: runId, metrics: { reward: null, step_time: 1 }, held_out: null });
    expect(report.samples).toMatchObject({ best: { reward: null, record_id: 'r1' }, worst: null });
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    expect(view.events.map(eventReport)).toMatchObject([
      { step: 1, severity: 'warning', remedy: 'Stop.', at: expect.stringMatching(/^1970-01-01T00:00:0\d/) },
    ]);
  });
});

describe('findRun', () => {
  it('finds by id, by name, by the name it was started with, and the newest that trains', () => {
    const store = temporaryStore();
    const [one, two, three] = ['a', 'b', 'b'].map((name) => createRun(store, config, { name }).runId);
    for (const id of [two, three]) finishRun(store, id ?? 0, 'done');
    store.runs.rename(one ?? 0, 'renamed');
    expect(findRun(store, '2').id).toBe(two);
    expect(findRun(store, 'b').id).toBe(three);
    expect(findRun(store, 'renamed').id).toBe(one);
    expect(findRun(store, 'a').id).toBe(one);
    expect(findRun(store).id).toBe(one);
    finishRun(store, one ?? 0, 'done');
    expect(findRun(store).id).toBe(three);
  });

  it('says what there is', () => {
    const store = temporaryStore();
    expect(errorOf(() => findRun(store))).toMatchObject({ code: 'NO_RUNS', kind: 'input' });
    createRun(store, config, { name: 'only' });
    expect(errorOf(() => findRun(store, '7'))).toMatchObject({
      code: 'RUN_UNKNOWN',
      message: expect.stringContaining('"7"'),
      remedy: 'The newest: 1 (only).',
    });
  });
});

import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordEvents } from '../../../main/services/runs/events.ts';
import { createRun, interruptRun } from '../../../main/services/runs/runs.ts';
import type { TrainerEvent } from '../../../main/trainer/protocol/trainer-events.ts';
import { errorOf, temporaryStore } from '../../store/helpers.ts';
import { config, eventsOf, snapshot } from './run-events.ts';

describe('recordEvents', () => {
  it('stores a batch, and the same batch again changes nothing', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config);
    const events = eventsOf(folder, 1, 7);
    recordEvents(store, runId, events);
    const first = snapshot(store, runId);
    expect(first).toMatchObject({ step: 7, warnings: 2 });
    expect(first.samples).toHaveLength(4);
    expect(first.evaluations[0]).toMatchObject({
      mean: 0.75,
      n: 2,
      exactMatch: 0.5,
      dataset: 'datasets/10words.test.jsonl',
    });
    expect(store.evaluations.list({ runId })[0]).toMatchObject({ low: 0.5, high: 1 });
    expect(first.checkpoints[0]?.path).toBe('outputs/run-0001-10words-grpo/checkpoint-2');
    recordEvents(store, runId, events);
    recordEvents(store, runId, []);
    expect(snapshot(store, runId)).toEqual(first);
  });

  it('stores an evaluation without scores, and takes the dataset that the configuration names', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, { ...config, eval_dataset: 'held-out.jsonl' });
    const items = [{ id: 'a', completion: 'x', metrics: {} }];
    recordEvents(store, runId, [{ kind: 'evaluation', step: 0, metrics: {}, items }]);
    expect(store.evaluations.list({ runId })[0]).toMatchObject({
      dataset: 'held-out.jsonl',
      mean: Number.NaN,
      low: null,
      exactMatch: null,
    });
  });

  it('takes the evaluation before the first step for the baseline', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, config);
    const at = (step: number, alignment: number): TrainerEvent => {
      const items = [{ id: 'a', completion: 'x', metrics: { alignment } }];
      return { kind: 'evaluation', step, metrics: {}, items };
    };
    recordEvents(store, runId, [at(0, 0.5)]);
    recordEvents(store, runId, [at(3, 0.75)]);
    expect(store.runs.get(runId)?.baselineScore).toBe(0.5);
  });

  it('stores nothing of a batch that fails in the middle', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config);
    const foreign = { kind: 'sing', step: 3 } as unknown as TrainerEvent;
    const before = snapshot(store, runId);
    expect(errorOf(() => recordEvents(store, runId, [...eventsOf(folder, 1, 2), foreign]))).toMatchObject({
      code: 'EVENT_UNKNOWN',
      message: expect.stringContaining('sing'),
    });
    expect(snapshot(store, runId)).toEqual(before);
  });

  it('rejects a run that is not there', () => {
    const error = errorOf(() => recordEvents(temporaryStore(), 9, eventsOf('/x', 1, 1)));
    expect(error).toMatchObject({ code: 'RUN_UNKNOWN', message: expect.stringContaining('9') });
  });

  it('follows the state of the run from ready to its end', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config);
    const state = () => store.runs.get(runId)?.state;
    const ready = {
      kind: 'ready',
      backend: 'wasm',
      threads: 2,
      why: 'no GPU',
      parameters: 9,
      trainable: 1,
      maxSteps: 5,
      maxCompletionLength: 9,
    } as const;
    recordEvents(store, runId, [ready, { kind: 'paused', step: 3, reason: 'on request', byWatch: false }]);
    expect(store.runs.get(runId)).toMatchObject({ state: 'paused', reason: 'on request', backend: 'wasm', step: 3 });
    recordEvents(store, runId, [{ kind: 'resumed', step: 3 }]);
    expect(state()).toBe('running');
    recordEvents(store, runId, [{ kind: 'done', step: 4, path: join(folder, 'checkpoint-4'), stopped: false }]);
    expect(state()).toBe('done');
    expect(store.checkpoints.ofRun(runId)).toMatchObject([{ step: 4, kind: 'final' }]);
    expect(store.events.ofRun(runId).map((event) => event.kind)).toEqual(['ready', 'paused', 'resumed', 'done']);
  });

  it('distinguishes a stop and a failure from a normal end', () => {
    const store = temporaryStore();
    const [one, two] = [createRun(store, config), createRun(store, config)];
    recordEvents(store, one.runId, [{ kind: 'done', step: 2, path: null, stopped: true }]);
    expect(store.runs.get(one.runId)?.state).toBe('stopped');
    const failed = {
      kind: 'failed',
      step: 2,
      code: 'OOM',
      message: 'No memory',
      remedy: 'Smaller batch.',
      input: false,
    } as const;
    recordEvents(store, two.runId, [failed]);
    expect(store.runs.get(two.runId)).toMatchObject({ state: 'failed', reason: 'No memory' });
    expect(store.events.ofRun(two.runId)[0]).toMatchObject({
      severity: 'error',
      remedy: 'Smaller batch.',
      data: { code: 'OOM' },
    });
    // A resume that failed before it had begun: it is the newest that happened to the run.
    recordEvents(store, one.runId, [{ ...failed, step: 0 }]);
    expect(store.events.ofRun(one.runId).at(-1)).toMatchObject({ kind: 'failed', step: 2 });
  });

  it('keeps events that arrive after the process was found dead, without reviving the run', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, config);
    interruptRun(store, runId, 'killed');
    recordEvents(store, runId, [
      { kind: 'step', step: 5, metrics: { reward: 1 } },
      { kind: 'resumed', step: 5 },
    ]);
    expect(store.runs.get(runId)).toMatchObject({ state: 'interrupted', step: 5 });
  });
});

import { describe, expect, it } from 'vitest';
import { columns } from '../../main/store/columns.ts';
import type { NewEvaluation } from '../../main/store/evaluations.ts';
import { addRun, host, temporaryStore } from './helpers.ts';

const text = { title: 'Tides', text: 'The  sea comes\nand goes.', source: 'own', words: 5 };

describe('columns', () => {
  it('turns names of SQL into names of ours', () => {
    expect(columns(['id', 'parent_run_id'], 'run')).toBe('run.id as "id", run.parent_run_id as "parentRunId"');
  });
});

describe('texts', () => {
  it('keeps one copy of the same words', () => {
    const { texts } = temporaryStore();
    const first = texts.add(text);
    expect(first.added).toBe(true);
    expect(texts.add({ ...text, title: 'Copy', text: ' The sea comes and goes. ' })).toEqual({
      ...first,
      added: false,
    });
    expect(texts.list()).toHaveLength(1);
    expect(texts.list(6)).toEqual([]);
    expect(texts.get(first.id)).toMatchObject(text);
    expect(texts.remove(first.id)).toBe(true);
    expect(texts.remove(first.id)).toBe(false);
  });
});

const dataset = {
  name: '10words',
  file: 'datasets/10words.jsonl',
  task: 'interleave',
  words: 10,
  trainN: 200,
  testN: 50,
  seed: 42,
  template: 'process@1',
  textHash: 'abc',
};

describe('datasets', () => {
  it('replaces the record of a file that is made again', () => {
    const { datasets } = temporaryStore();
    const id = datasets.record(dataset);
    expect(datasets.record({ ...dataset, seed: 7 })).toBe(id);
    expect(datasets.get(id)?.seed).toBe(7);
    expect(datasets.byFile(dataset.file)?.id).toBe(id);
    expect(datasets.list()).toHaveLength(1);
    expect(datasets.remove(id)).toBe(true);
  });
});

describe('stages', () => {
  it('keeps the curriculum in order, the queue in the order of queueing, and remembers states', () => {
    const { datasets, stages } = temporaryStore();
    const stage = {
      name: '10 words',
      datasetId: datasets.record(dataset),
      words: 10,
      steps: 60,
      promotion: { at: 0.95 },
      config: { seed: 1 },
    };
    const second = stages.add({ ...stage, position: 2 });
    const first = stages.add({ ...stage, position: 1, promotion: null, datasetId: null });
    expect(stages.list().map((row) => [row.id, row.state])).toEqual([
      [first, 'planned'],
      [second, 'planned'],
    ]);
    expect(stages.queue()).toEqual([]);
    stages.setState(second, 'queued');
    stages.setState(first, 'queued');
    expect(stages.queue().map(({ id }) => id)).toEqual([second, first]);
    stages.reorder([first, second, 99]);
    expect(stages.queue().map(({ id }) => id)).toEqual([first, second]);
    stages.reorder([second]);
    expect(stages.queue().map(({ id }) => id)).toEqual([second, first]);
    expect(stages.queue()[0]).toMatchObject({ promotion: { at: 0.95 }, config: { seed: 1 } });
    stages.setState(first, 'failed', 'out of memory');
    expect(stages.get(first)).toMatchObject({ state: 'failed', reason: 'out of memory', datasetId: null });
    expect(stages.get(first)?.endedAt).not.toBeNull();
    stages.change(second, { ...stage, position: 0, name: 'renamed' });
    expect(stages.list().map((row) => row.id)).toEqual([second, first]);
    expect(stages.remove(first)).toBe(true);
    expect(stages.get(first)).toBeUndefined();
  });
});

describe('settings', () => {
  it('stores JSON values', () => {
    const { settings } = temporaryStore();
    settings.set('window', { width: 800 });
    settings.set('window', { width: 900 });
    settings.set('nothing', undefined);
    expect(settings.get('window')).toEqual({ width: 900 });
    expect(settings.list()).toMatchObject({ nothing: null, window: { width: 900 } });
    expect(settings.remove('window')).toBe(true);
    expect(settings.get('window')).toBeUndefined();
  });
});

describe('runs', () => {
  it('lists by state and by page, newest first', () => {
    const { runs, ...store } = temporaryStore();
    const ids = [1, 2, 3].map(() => addRun({ runs, ...store }));
    runs.setState(ids[1] ?? 0, 'done', null);
    expect(runs.list().map((run) => run.id)).toEqual([...ids].reverse());
    expect(runs.list({ states: ['running'], limit: 1 }).map((run) => run.id)).toEqual([ids[2]]);
    expect(runs.list({ before: ids[2] ?? 0 }).map((run) => run.id)).toEqual([ids[1], ids[0]]);
  });

  it('moves the step forward only, until it is rewound', () => {
    const store = temporaryStore();
    const id = addRun(store);
    store.runs.advance(id, 7);
    store.runs.advance(id, 5);
    expect(store.runs.get(id)?.step).toBe(7);
    store.runs.rewind(id, 5);
    expect(store.runs.get(id)?.step).toBe(5);
  });

  it('remembers baseline, backend, name, steps, host and signs of life', () => {
    const { runs, ...store } = temporaryStore();
    const id = addRun({ runs, ...store });
    runs.setBaseline(id, 0.486);
    runs.setBackend(id, 'wasm');
    runs.rename(id, 'mine');
    runs.setMaxSteps(id, 200, '{}');
    runs.claim(id, { ...host, pid: 2 });
    const before = runs.get(id)?.heartbeatAt ?? 0;
    runs.beat(id);
    expect(runs.get(id)).toMatchObject({ baselineScore: 0.486, backend: 'wasm', name: 'mine', maxSteps: 200, pid: 2 });
    expect(runs.get(id)?.heartbeatAt).toBeGreaterThan(before);
  });
});

describe('checkpoints', () => {
  it('keeps one a step, and final wins over periodic', () => {
    const store = temporaryStore();
    const run = addRun(store);
    const id = store.checkpoints.record(run, 20, 'outputs/a/checkpoint-20', 'final');
    expect(store.checkpoints.record(run, 20, 'outputs/a/checkpoint-20', 'periodic')).toBe(id);
    expect(store.checkpoints.get(id)?.kind).toBe('final');
    expect(store.checkpoints.byPath('outputs/a/checkpoint-20')?.id).toBe(id);
    store.checkpoints.markDeleted(id);
    expect(store.checkpoints.get(id)?.deletedAt).not.toBeNull();
    store.checkpoints.record(run, 20, 'outputs/a/checkpoint-20', 'periodic');
    expect(store.checkpoints.get(id)?.deletedAt).toBeNull();
  });
});

const evaluation: NewEvaluation = {
  runId: null,
  checkpointId: null,
  model: 'tiny',
  dataset: '10words.test.jsonl',
  step: 0,
  n: 2,
  mean: 0.5,
  low: 0.4,
  high: 0.6,
  exactMatch: 0,
  metrics: { mean_alignment: 0.5 },
  duringTraining: false,
};
const itemOf = (recordId: string, score: number) => ({
  recordId,
  completion: 'x',
  score,
  metrics: { alignment: score },
});

describe('evaluations', () => {
  it('stores items in order and pairs two evaluations by record', () => {
    const { evaluations } = temporaryStore();
    const baseline = evaluations.add(evaluation, [itemOf('b', 0.5), itemOf('a', 0.25), itemOf('c', Number.NaN)]);
    const trained = evaluations.add({ ...evaluation, model: 'trained' }, [
      itemOf('a', 1),
      itemOf('b', 0.75),
      itemOf('c', 1),
    ]);
    expect(evaluations.get(baseline)).toMatchObject(evaluation);
    expect(evaluations.items(baseline).map((item) => item.recordId)).toEqual(['b', 'a', 'c']);
    expect(evaluations.pairs(baseline, trained)).toEqual([
      { recordId: 'b', first: 0.5, second: 0.75 },
      { recordId: 'a', first: 0.25, second: 1 },
    ]);
    expect(evaluations.list({ model: 'trained' }).map((row) => row.id)).toEqual([trained]);
    expect(evaluations.list({ dataset: 'other' })).toEqual([]);
    expect(evaluations.get(99)).toBeUndefined();
  });

  it('replaces the one of the same step of a training', () => {
    const store = temporaryStore();
    const runId = addRun(store);
    const during = { ...evaluation, runId, step: 10, duringTraining: true };
    store.evaluations.add(during, [itemOf('a', 0.5)]);
    const id = store.evaluations.add({ ...during, mean: 0.7 }, [itemOf('a', 0.7)]);
    expect(store.evaluations.list({ runId }).map((row) => [row.id, row.mean])).toEqual([[id, 0.7]]);
  });
});

describe('events', () => {
  it('stores the same message of a step once', () => {
    const store = temporaryStore();
    const event = {
      runId: addRun(store),
      step: 3,
      kind: 'warning',
      severity: 'warning',
      message: 'm',
      remedy: 'r',
    } as const;
    store.events.record({ ...event, data: { rule: 'kl' } });
    store.events.record({ ...event, data: { rule: 'kl' } });
    store.events.record({ ...event, step: 2, data: undefined });
    expect(store.events.ofRun(event.runId)).toMatchObject([
      { step: 2, data: null },
      { step: 3, data: { rule: 'kl' }, remedy: 'r' },
    ]);
  });
});

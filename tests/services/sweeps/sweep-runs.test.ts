import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inputError } from '../../../main/errors.ts';
import { openQueue } from '../../../main/services/queue/queue.ts';
import { markAbandonedRuns } from '../../../main/services/runs/runs.ts';
import { createSweep } from '../../../main/services/sweeps/create.ts';
import { draftSweep } from '../../../main/services/sweeps/draft.ts';
import { parsePlan } from '../../../main/services/sweeps/plan.ts';
import { listSweeps, sweepView } from '../../../main/services/sweeps/result.ts';
import { scoreOf } from '../../../main/services/sweeps/scores.ts';
import { openLiveRuns } from '../../../main/services/training/live-runs.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openNotices } from '../../../main/services/workspace/notices.ts';
import { readSettings } from '../../../main/services/workspace/settings.ts';
import type { Store } from '../../../main/store/index.ts';
import { addRun, errorOf } from '../../store/helpers.ts';
import { until } from '../../until.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

/** A workspace with a queue, and sweeps of runs of a few steps. */
async function bench() {
  const world = await tinyWorkspace();
  const { store, paths } = world;
  const changes = openChanges();
  const notices = openNotices(changes);
  /** A host that opens the workspace; a second one stands for a restart. */
  const host = () => {
    const live = openLiveRuns(store, { paths, changes, settings: () => readSettings(store) });
    onTestFinished(() => live.close(5000));
    return { live, queue: openQueue(store, { paths, live, changes, notices, settings: () => readSettings(store) }) };
  };
  const sweep = (plan: object, config: object = {}): number => {
    const base = { ...world.config({ eval_records: 2, max_steps: 3 }), ...config };
    return createSweep(store, draftSweep(parsePlan({ name: 'lr', ...plan }, 'plan'), base), paths);
  };
  return { ...world, notices, host, sweep };
}

const states = (store: Store, id: number): string[] => store.sweeps.trials(id).map(({ state }) => state);
const isOver = (store: Store, id: number): boolean => store.sweeps.get(id)?.state === 'done';
const stepOf = (store: Store, runId: number | undefined): number => store.runs.get(runId ?? 0)?.step ?? 0;

describe('a sweep in the queue', () => {
  it('runs every setting with every seed, and compares them in one table', async () => {
    const { store, notices, host, sweep } = await bench();
    const id = sweep({ fields: { learning_rate: [1e-5, 1e-3] }, seeds: [1, 2] });
    const { queue, live } = host();
    queue.addSweep(id);
    expect(errorOf(() => queue.addSweep(id))).toMatchObject({ code: 'SWEEP_BUSY' });
    expect(queue.list()).toMatchObject([{ kind: 'sweep', id }]);
    expect(live.list()).toHaveLength(1);
    await until(() => isOver(store, id));
    expect(states(store, id)).toEqual(['done', 'done', 'done', 'done']);
    expect(
      store.runs
        .list()
        .map(({ name }) => name)
        .toReversed(),
    ).toEqual([
      'lr learning_rate 1e-5/seed_1',
      'lr learning_rate 1e-3/seed_1',
      'lr learning_rate 1e-5/seed_2',
      'lr learning_rate 1e-3/seed_2',
    ]);
    expect(queue.list()).toEqual([]);
    const view = sweepView(store, id);
    expect(view).toMatchObject({ over: 4, failed: 0, fields: ['learning_rate'], scoreKind: 'held-out' });
    expect(view.steps).toEqual({ done: 12, planned: 12 });
    for (const row of view.rows) {
      expect(row.n).toBe(2);
      const scores = row.trials.map(({ score }) => score?.value ?? Number.NaN);
      expect(row.mean).toBeCloseTo((Number(scores[0]) + Number(scores[1])) / 2, 12);
      expect(row.interval).not.toBeNull();
      expect(row.passRates.map(({ k }) => k)).toEqual([1, 2]);
    }
    expect(view.rows.filter((row) => row.leads)).toHaveLength(1);
    expect(notices.list()[0]).toMatchObject({ message: 'The sweep "lr" is done' });
  });

  it('stops the losers of a rung, and continues the winners from their checkpoint', async () => {
    const { store, host, sweep } = await bench();
    const fields = { learning_rate: [1e-6, 1e-4, 1e-3, 1e-2] };
    const halving = { min_steps: 2, factor: 4 };
    const id = sweep({ fields, halving }, { max_steps: 30 });
    expect(sweepView(store, id)).toMatchObject({ rungs: [2, 8, 30], steps: { done: 0, planned: 4 * 2 + 6 + 22 } });
    host().queue.addSweep(id);
    await until(() => isOver(store, id));
    expect(states(store, id).toSorted()).toEqual(['done', 'eliminated', 'eliminated', 'eliminated']);
    const view = sweepView(store, id);
    const winner = view.rows.find((row) => row.leads);
    const [trial] = winner?.trials ?? [];
    expect(trial).toMatchObject({ state: 'done', rung: 2, run: { step: 30 } });
    const resumed = store.events.ofRun(trial?.runId ?? 0).filter(({ kind }) => kind === 'resumed');
    // A stop that comes late on a busy machine may pass a rung.
    expect([1, 2]).toContain(resumed.length);
    // What came after the rung may score otherwise.
    const atRung = (runId: number | null | undefined): number => scoreOf(store, runId ?? 0, 2)?.value ?? Number.NaN;
    for (const row of view.rows.filter(({ stoppedAt }) => stoppedAt !== null)) {
      expect(row.stoppedAt).toBe(2);
      // The stop takes effect between two of its steps.
      expect(row.trials[0]?.run?.step).toBeLessThan(30);
      expect(atRung(row.trials[0]?.runId)).toBeLessThanOrEqual(atRung(trial?.runId));
    }
  });

  it('closes every reached rung before it ends, the lowest first', async () => {
    const { store, notices, host, sweep } = await bench();
    const id = sweep(
      { fields: { learning_rate: [1e-5, 1e-4] }, halving: { min_steps: 1, factor: 2 } },
      { max_steps: 4 },
    );
    const [ahead, retried] = store.sweeps.trials(id);
    if (ahead === undefined || retried === undefined) throw new Error('Expected two trials');
    store.sweeps.setTrial({ ...ahead, rung: 1 }, 'reached');
    store.sweeps.setTrial(retried, 'reached');
    // Neither has a score, so nothing continues.
    expect(host().queue.sweeps.startNext(id)).toBeNull();
    const over = store.sweeps.trials(id).map(({ state, reason }) => [state, reason]);
    expect(over).toEqual([
      ['eliminated', 'Not among the best at step 2'],
      ['eliminated', 'Not among the best at step 1'],
    ]);
    expect([isOver(store, id), notices.list().length]).toEqual([true, 1]);
  });

  it('counts a run that could not be resumed as failed, although it is as it was', async () => {
    const { store, host, sweep } = await bench();
    const id = sweep({ fields: { learning_rate: [1e-5, 1e-4] } });
    const { queue } = host();
    const runId = addRun(store);
    store.runs.setState(runId, 'stopped', 'Stopped on request');
    store.sweeps.startTrial(store.sweeps.trials(id)[0]?.id ?? 0, runId);
    store.sweeps.setState(id, 'running');
    queue.sweeps.ended(runId, null, inputError('OTHER_DATASET', 'Another dataset'));
    expect(store.sweeps.trials(id)[0]).toMatchObject({ state: 'failed', reason: 'Another dataset' });
    expect(store.sweeps.get(id)?.state).toBe('running');
  });

  it('survives the death of its host: the run continues from its checkpoint, and the others follow', async () => {
    const { store, host, sweep } = await bench();
    const id = sweep({ fields: { learning_rate: [1e-5, 1e-4] } }, { max_steps: 12, save_steps: 2 });
    const before = host();
    before.queue.addSweep(id);
    const [first] = store.sweeps.trials(id);
    await until(() => stepOf(store, first?.runId ?? undefined) >= 4);
    // The queue hears of nothing more; the trainer dies with its host, and the history says "running".
    before.queue.close();
    const runId = first?.runId ?? 0;
    before.live.kill(runId);
    await until(() => before.live.list().length === 0);
    store.runs.setState(runId, 'running', null);
    store.sweeps.setTrial({ id: first?.id ?? 0, rung: 0, attempts: 1 }, 'running');
    markAbandonedRuns(store, () => false);
    const after = host();
    expect(states(store, id)).toEqual(['waiting', 'waiting']);
    after.queue.begin();
    expect(store.sweeps.trials(id)[0]).toMatchObject({ runId, attempts: 2 });
    await until(() => isOver(store, id));
    expect(states(store, id)).toEqual(['done', 'done']);
    expect(store.runs.list()).toHaveLength(2);
    expect(store.events.ofRun(runId).find(({ kind }) => kind === 'resumed')?.step).toBeGreaterThanOrEqual(2);
    expect(stepOf(store, runId)).toBe(12);
  });

  it('continues a run whose trainer died, and pauses where a person stopped or killed it', async () => {
    const { store, host, sweep } = await bench();
    const id = sweep({ seeds: [1] }, { max_steps: 60, save_steps: 2 });
    const { queue, live } = host();
    queue.addSweep(id);
    const runId = store.sweeps.trials(id)[0]?.runId ?? 0;
    await until(() => stepOf(store, runId) >= 3);
    live.kill(runId);
    await until(() => store.sweeps.trials(id)[0]?.attempts === 2);
    await until(() => stepOf(store, runId) >= 6);
    queue.sweeps.killing(runId);
    live.kill(runId);
    await until(() => store.sweeps.get(id)?.state === 'paused');
    expect(store.sweeps.get(id)?.reason).toMatch(/^A run was killed at step \d+ of 60$/);
    expect([states(store, id), queue.list()]).toEqual([['waiting'], []]);
    queue.addSweep(id);
    await until(() => stepOf(store, runId) >= 8);
    live.command(runId, 'stop');
    await until(() => store.sweeps.get(id)?.state === 'paused');
    expect(store.sweeps.get(id)?.reason).toMatch(/^A run was stopped at step/);
    expect(store.sweeps.trials(id)[0]?.attempts).toBe(0);
  });

  it('pauses after a stop although the history is checked while the process is exiting', async () => {
    const { store, host, sweep } = await bench();
    const id = sweep({ seeds: [1] }, { max_steps: 60 });
    const { queue, live } = host();
    let checked = 0;
    live.onEvents((runId) => {
      if (store.runs.get(runId)?.state !== 'stopped') return;
      queue.updateEnded();
      checked++;
    });
    queue.addSweep(id);
    const runId = store.sweeps.trials(id)[0]?.runId ?? 0;
    await until(() => stepOf(store, runId) >= 1);
    live.command(runId, 'stop');
    await until(() => live.list().length === 0);
    expect(checked).toBeGreaterThan(0);
    expect(store.sweeps.get(id)).toMatchObject({
      state: 'paused',
      reason: expect.stringMatching(/^A run was stopped/),
    });
  });

  it('pauses, resumes and is cancelled as a whole', async () => {
    const { store, host, sweep } = await bench();
    const id = sweep({ seeds: [1, 2] }, { max_steps: 200 });
    const { queue, live } = host();
    queue.addSweep(id);
    const runId = store.sweeps.trials(id)[0]?.runId ?? 0;
    await until(() => stepOf(store, runId) >= 1);
    queue.remove({ kind: 'sweep', id });
    await until(() => live.list().length === 0);
    expect([store.sweeps.get(id)?.state, states(store, id)]).toEqual(['paused', ['waiting', 'waiting']]);
    const at = stepOf(store, runId);
    queue.addSweep(id);
    await until(() => stepOf(store, runId) > at);
    queue.sweeps.cancel(id);
    await until(() => live.list().length === 0);
    expect([store.sweeps.get(id)?.state, states(store, id)]).toEqual(['cancelled', ['cancelled', 'cancelled']]);
    const [cancelled] = store.sweeps.trials(id);
    if (cancelled !== undefined) store.sweeps.setTrial({ ...cancelled, attempts: 4 }, 'failed');
    queue.sweeps.retry(id);
    expect(states(store, id)).toEqual(['waiting', 'waiting']);
    expect(store.sweeps.trials(id).map(({ attempts }) => attempts)).toEqual([0, 0]);
  });

  it('lists a run that only its trainer can refuse as failed, and continues with the others', async () => {
    const { store, notices, host, sweep } = await bench();
    const id = sweep({ fields: { max_completion_length: [1, null] } }, { warm_up_steps: 1 });
    host().queue.addSweep(id);
    await until(() => isOver(store, id));
    expect(states(store, id)).toEqual(['failed', 'done']);
    expect(store.sweeps.trials(id)[0]?.reason).toContain('max_completion_length');
    expect(notices.list()[0]).toMatchObject({ severity: 'warning', message: 'The sweep "lr" has ended; 1 run failed' });
  });

  it('starts a run from the checkpoint of the one that it follows', async () => {
    const { store, paths, host, config } = await bench();
    const base = config({ eval_records: 2, max_steps: 2 });
    const trial = { seed: 1, config: base, after: null };
    const id = store.sweeps.add('chain', { settings: [{}, {}], seeds: [1], rungs: null, factor: null }, [
      { ...trial, setting: 0, name: 'first/seed_1' },
      { ...trial, setting: 1, name: 'second/seed_1', after: 0 },
    ]);
    expect(paths).toBeDefined();
    host().queue.addSweep(id);
    await until(() => isOver(store, id));
    const [second, first] = store.runs.list();
    expect(second?.parentRunId).toBe(first?.id);
  });

  it('pauses where the checkpoint to start from is on a disk that is away', async () => {
    const { store, root, host, config } = await bench();
    const trial = { seed: 1, config: config({ eval_records: 2, max_steps: 2 }), after: null };
    const id = store.sweeps.add('chain', { settings: [{}, {}], seeds: [1], rungs: null, factor: null }, [
      { ...trial, setting: 0, name: 'first/seed_1' },
      { ...trial, setting: 1, name: 'second/seed_1', after: 0 },
    ]);
    const [first] = store.sweeps.trials(id);
    if (first === undefined) throw new Error('Expected a trial');
    const run = addRun(store, { name: first.name });
    store.runs.setState(run, 'done', null);
    store.checkpoints.record(run, 2, join(root, 'unplugged', 'checkpoint-2'), 'final');
    store.sweeps.startTrial(first.id, run);
    store.sweeps.setTrial(first, 'done');
    host().queue.addSweep(id);
    expect(store.sweeps.get(id)).toMatchObject({
      state: 'paused',
      reason: expect.stringMatching(
        /"second\/seed_1" can't start from the checkpoint of step 2 of first\/seed_1: its folder/,
      ),
    });
    expect(states(store, id)).toEqual(['done', 'waiting']);
  });
});

describe('a free run in the queue', () => {
  it('waits behind another, can be moved and removed, and survives a restart', async () => {
    const { store, host, config } = await bench();
    const before = host();
    const first = before.live.start(config({ max_steps: 400 }));
    before.queue.addRun(config({ max_steps: 2 }), 'one');
    const two = before.queue.addRun(config({ max_steps: 2 }), 'two');
    const three = before.queue.addRun(config({ max_steps: 2 }), null);
    expect(before.queue.list().map(({ name }) => name)).toEqual(['one', 'two', null]);
    before.queue.reorder([{ kind: 'run', id: three }]);
    before.queue.remove({ kind: 'run', id: two });
    expect(before.queue.list().map(({ name }) => name)).toEqual([null, 'one']);
    before.queue.close();
    before.live.command(first, 'stop');
    await until(() => before.live.list().length === 0);
    const after = host();
    expect(after.queue.list().map(({ name }) => name)).toEqual([null, 'one']);
    after.queue.begin();
    await until(() => store.runs.list({ states: ['done'] }).length === 2);
    const [last, middle] = store.runs.list();
    expect([last?.name, middle?.name.includes('2words')]).toEqual(['one', true]);
    expect(after.queue.list()).toEqual([]);
  });

  it('is refused at once where that can be known, and kept with the reason where it fails later', async () => {
    const { store, host, config, dataset, notices } = await bench();
    const { queue, live } = host();
    const gone = config({ dataset: `${dataset}.gone` });
    expect(errorOf(() => queue.addRun(gone, null))).toMatchObject({ message: expect.stringContaining('.gone') });
    const id = store.queue.addRun('later', { ...gone });
    const sound = store.queue.addRun('sound', { ...config({ max_steps: 1 }) });
    queue.begin();
    expect(queue.list()).toMatchObject([{ id, reason: expect.stringContaining('.gone') }]);
    expect(notices.list()[0]).toMatchObject({ severity: 'error' });
    // It keeps nothing else from starting.
    expect([sound, live.list().length]).toEqual([sound, 1]);
    await until(() => live.list().length === 0);
    queue.retry(id);
    expect(queue.list()).toHaveLength(1);
    queue.remove({ kind: 'run', id });
    expect(queue.list()).toEqual([]);
  });
});

describe('a sweep whose plan cannot be read', () => {
  it('is refused before it is stored', async () => {
    const { store, paths, config } = await bench();
    const draft = draftSweep(parsePlan({ name: 'lr', seeds: [1] }, 'plan'), { ...config({ max_steps: 2 }) });
    expect(() => createSweep(store, { ...draft, plan: { ...draft.plan, seeds: [2 ** 40] } }, paths)).toThrow();
    expect(store.sweeps.list()).toEqual([]);
  });

  it('pauses alone: the workspace opens, is listed, and runs the others', async () => {
    const { store, host, sweep } = await bench();
    const broken = sweep({ name: 'broken', seeds: [1] });
    const sound = sweep({ name: 'sound', seeds: [2] });
    const db = new Database(store.file);
    db.prepare('update sweep set plan_json = ? where id = ?').run('{"seeds": [1099511627776]}', broken);
    db.close();
    const { queue } = host();
    queue.addSweep(broken);
    queue.addSweep(sound);
    await until(() => isOver(store, sound));
    expect(store.sweeps.get(broken)).toMatchObject({ state: 'paused', reason: expect.stringContaining('be read') });
    expect(listSweeps(store).map(({ name, seeds }) => ({ name, seeds }))).toEqual([
      { name: 'sound', seeds: [2] },
      { name: 'broken', seeds: [1] },
    ]);
    expect(errorOf(() => sweepView(store, broken))).toMatchObject({ code: 'BAD_PLAN' });
    expect(() => host()).not.toThrow();
  });
});

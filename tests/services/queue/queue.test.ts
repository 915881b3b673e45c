import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { stageView } from '../../../main/services/curriculum/curriculum.ts';
import { addStage, changeStage, type StageEdit } from '../../../main/services/curriculum/edit.ts';
import { checkForgetting, forgetting } from '../../../main/services/curriculum/forgetting.ts';
import { stageConfig } from '../../../main/services/curriculum/stage-config.ts';
import { requireStage, type StageRunsOptions } from '../../../main/services/curriculum/stage-runs.ts';
import { openQueue } from '../../../main/services/queue/queue.ts';
import { decisiveScores, promotionSchema } from '../../../main/services/runs/promotion.ts';
import { claimRun, interruptRun } from '../../../main/services/runs/runs.ts';
import { type LiveRuns, openLiveRuns } from '../../../main/services/training/live-runs.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openNotices } from '../../../main/services/workspace/notices.ts';
import { changeSettings, readSettings } from '../../../main/services/workspace/settings.ts';
import type { StageState } from '../../../main/store/stages.ts';
import { addRun, errorOf } from '../../store/helpers.ts';
import { tinyWords } from '../../tiny-model.ts';
import { tinyConfig } from '../../trainer/run/tiny-run.ts';
import { until } from '../../until.ts';
import { lines, taskYaml, writeTask } from '../tasks/task-folder.ts';
import { type TinyWorkspace, tinyWorkspace } from '../tiny-workspace.ts';

const promotion = (rule: object) => promotionSchema.parse(rule);
const easy = promotion({ at_least: 0 });
const impossible = promotion({ at_least: 1 });

interface Bench extends TinyWorkspace {
  readonly live: LiveRuns;
  readonly notices: ReturnType<typeof openNotices>;
  stage(edit?: StageEdit): number;
  stateOf(stageId: number): StageState | undefined;
  open(options?: Partial<StageRunsOptions>): ReturnType<typeof openQueue>;
  settled(stageId: number, ...states: StageState[]): Promise<void>;
}

/** A workspace whose stages are a few steps of a tiny model. */
async function bench(): Promise<Bench> {
  const world = await tinyWorkspace();
  const { store, paths } = world;
  const changes = openChanges();
  const settings = () => readSettings(store);
  const live = openLiveRuns(store, { paths, changes, settings });
  const notices = openNotices(changes);
  // Nothing may write to the store once it is closed.
  onTestFinished(() => live.close(5000));
  const row = { file: world.dataset, task: 'interleave', words: 2, trainN: 12, testN: 4, seed: 3 };
  const datasetId = store.datasets.record({ ...row, name: '2words', template: null, textHash: null });
  const { max_steps: _, ...config } = { ...tinyConfig, model: world.model, eval_records: 2 };
  const stateOf = (stageId: number) => store.stages.get(stageId)?.state;
  return {
    ...world,
    live,
    notices,
    stage: (edit) => addStage(store, { datasetId, steps: 2, promotion: null, config, ...edit }),
    stateOf,
    open: (options) => openQueue(store, { paths, live, changes, notices, settings, ...options }),
    settled: (stageId, ...states) => until(() => states.includes(stateOf(stageId) ?? 'planned')),
  };
}

describe('the queue of stages', () => {
  it('runs stages of a task of the user', async () => {
    const { root, store, paths, stage, open, settled } = await bench();
    writeTask(join(root, 'tasks'), 'say', { 'task.yaml': taskYaml.replace('check: loud\n', '') });
    const ids = ['easy', 'hard'].map((name) => {
      const file = join(root, 'datasets', `${name}.jsonl`);
      for (const path of [file, file.replace('.jsonl', '.test.jsonl')])
        writeFileSync(path, lines(...tinyWords.slice(0, 4).map((word) => ({ id: `${name}-${word}`, word }))));
      const row = { file, name, task: 'say', words: null, trainN: 4, testN: 4, seed: 3 };
      return store.datasets.record({ ...row, template: null, textHash: null });
    });
    const [first = 0, second = 0] = ids.map((datasetId) =>
      stage({ datasetId, promotion: promotion({ at_least: -1 }) }),
    );
    const queue = open();
    queue.enqueue(first);
    queue.enqueue(second);
    await settled(second, 'done', 'failed');
    const [after, before] = store.runs.list();
    expect([before, after].map((run) => [run?.task, run?.state, run?.stageId])).toEqual([
      ['say', 'done', first],
      ['say', 'done', second],
    ]);
    expect(after?.parentRunId).toBe(before?.id);
    // What each has forgotten is measured by the task's reward.
    await checkForgetting(store, paths, { signal: new AbortController().signal, progress: () => undefined });
    const { columns, rows, missing } = forgetting(store, paths);
    expect([columns.map(({ name }) => name), rows.length, missing]).toEqual([['easy', 'hard'], 3, 0]);
  });

  it("runs stage after stage, each from the previous one's checkpoint", async () => {
    const { store, live, stage, open, settled } = await bench();
    const [first, second] = [stage({ promotion: easy }), stage()];
    const queue = open();
    queue.enqueue(first);
    queue.enqueue(second);
    expect(live.list()).toMatchObject([{ stageId: first }]);
    await settled(second, 'done');
    expect(store.stages.list().map(({ state }) => state)).toEqual(['done', 'done']);
    const [after, before] = store.runs.list();
    expect([before?.stageId, after?.stageId]).toEqual([first, second]);
    expect(after?.parentRunId).toBe(before?.id);
    expect(before?.parentRunId).toBeNull();
    expect(queue.held()).toBeNull();
  });

  it('pauses after a stage that misses its rule, until it is resumed', async () => {
    const { live, notices, stage, stateOf, open, settled } = await bench();
    const [first, second] = [stage({ promotion: impossible }), stage()];
    const queue = open();
    queue.enqueue(first);
    queue.enqueue(second);
    await settled(first, 'unmet');
    expect(queue.held()).toMatch(/^"2 words": Held-out score .*; the goal of 1 is not met$/);
    expect(notices.list()[0]).toMatchObject({
      severity: 'warning',
      message: expect.stringContaining('Held-out score'),
    });
    queue.begin();
    expect([stateOf(second), live.list()]).toEqual(['queued', []]);
    queue.release();
    await settled(second, 'done');
    expect(queue.held()).toBeNull();
  });

  it('pauses after a killed run, and continues when that run is resumed and finishes', async () => {
    const { store, live, stage, stateOf, open, settled } = await bench();
    const [first, second] = [stage({ steps: 30, promotion: easy }), stage()];
    const queue = open();
    const runId = queue.start(first);
    queue.enqueue(second);
    expect([stateOf(first), stateOf(second)]).toEqual(['running', 'queued']);
    expect(errorOf(() => queue.start(first))).toMatchObject({ code: 'STAGE_BUSY' });
    expect(errorOf(() => queue.enqueue(second))).toMatchObject({ code: 'STAGE_BUSY' });
    expect(errorOf(() => queue.start(second))).toMatchObject({ code: 'RUN_BUSY' });
    await until(() => (store.runs.get(runId)?.step ?? 0) >= 3);
    live.kill(runId);
    await settled(first, 'failed');
    expect(store.stages.get(first)?.reason).toContain('SIGKILL');
    expect([queue.held(), queue.heldFor()]).toEqual([expect.stringContaining('SIGKILL'), first]);
    live.resume(runId);
    expect([stateOf(first), queue.held()]).toEqual(['running', null]);
    await settled(second, 'done');
    expect([stateOf(first), queue.held()]).toEqual(['done', null]);
  });

  it('stays paused as a whole until it is released, whatever becomes of a stage', async () => {
    const { store, live, config, stage, open, settled } = await bench();
    const [first, second] = [stage({ steps: 30 }), stage()];
    const queue = open();
    onTestFinished(() => queue.close());
    store.stages.setState(first, 'queued');
    store.stages.setState(second, 'queued');
    store.queue.addRun('free', { ...config({ max_steps: 1 }) });
    queue.holdWaiting('not opened here before');
    const runId = queue.start(first);
    expect(queue.held()).toBe('not opened here before');
    live.kill(runId);
    await settled(first, 'failed');
    await until(() => live.list().length === 0);
    queue.begin();
    expect([queue.held(), live.list()]).toEqual(['not opened here before', []]);
    queue.release();
    expect(live.list()).toHaveLength(1);
  });

  it('survives a restart: a queued stage starts, one whose run was interrupted pauses the queue', async () => {
    const { store, live, stage, stateOf, open, settled } = await bench();
    const [first, second, third] = [stage(), stage(), stage()];
    store.stages.setState(first, 'running');
    const run = addRun(store, { stageId: first });
    interruptRun(store, run, 'The app ended without ending the run');
    store.stages.setState(second, 'queued');
    open().begin();
    expect(store.stages.get(first)).toMatchObject({ state: 'failed', reason: 'The app ended without ending the run' });
    expect(live.list()).toEqual([]);
    // Another restart remembers why the queue is paused.
    const queue = open();
    queue.begin();
    expect([queue.held(), stateOf(second)]).toEqual(['"2 words": The app ended without ending the run', 'queued']);
    queue.dequeue(second);
    expect([queue.held(), stateOf(second)]).toEqual([null, 'planned']);
    store.stages.setState(third, 'queued');
    open().begin();
    await settled(third, 'done');
  });

  it('leaves a stage alone whose run belongs to another process, and updates it when that ends', async () => {
    const { store, stage, stateOf, open } = await bench();
    const [taken, lost] = [stage(), stage()];
    for (const id of [taken, lost]) store.stages.setState(id, 'running');
    const run = addRun(store, { stageId: taken });
    const queue = open();
    expect(stateOf(taken)).toBe('running');
    expect(store.stages.get(lost)).toMatchObject({ state: 'failed', reason: 'Its run is no longer in the history' });
    store.runs.setState(run, 'done', null);
    queue.updateEnded();
    expect(stateOf(taken)).toBe('done');
  });

  it('has a run in the history or in the queue, never in both, whatever fails between', async () => {
    const { store, live, config, open } = await bench();
    const queue = open();
    onTestFinished(() => queue.close());
    const remove = vi.spyOn(store.queue, 'removeRun');
    remove.mockImplementationOnce(() => {
      throw new BraidError('DISK_FULL', 'the disk is full');
    });
    const id = queue.addRun(config({ max_steps: 1 }), 'free');
    expect([store.runs.list(), live.list()]).toEqual([[], []]);
    expect(queue.list()).toMatchObject([{ kind: 'run', id, reason: 'the disk is full' }]);
    // Another process took it out.
    remove.mockReturnValueOnce(false);
    queue.retry(id);
    expect([store.runs.list(), live.list()]).toEqual([[], []]);
    queue.retry(id);
    expect([store.runs.list().length, queue.list()]).toEqual([1, []]);
  });

  it('promotes after all where a full disk or a kill came between a stage and the next', async () => {
    const { store, stage, stateOf, open } = await bench();
    changeSettings(store, { auto_promote: true, run_queue: false });
    const [first, second] = [stage(), stage()];
    store.stages.setState(first, 'running');
    const { setState } = store.stages;
    const full = vi.spyOn(store.stages, 'setState').mockImplementation((id, state, reason) => {
      if (state === 'queued') throw new BraidError('DISK_FULL', 'the disk is full');
      return setState(id, state, reason);
    });
    store.runs.setState(addRun(store, { stageId: first }), 'done', null);
    expect(errorOf(() => open())).toMatchObject({ code: 'DISK_FULL' });
    expect(stateOf(first)).toBe('running');
    full.mockRestore();
    open();
    expect([stateOf(first), stateOf(second)]).toEqual(['done', 'queued']);
  });

  it('follows the run that trained last, not the newest: one resumed by hand', async () => {
    const { store, paths, model, stage, open } = await bench();
    const [first, second] = [stage(), stage()];
    const [resumed, newer] = ['models', 'outputs'].map((place) => {
      const run = addRun(store, { stageId: first, model });
      store.checkpoints.record(run, 2, place, 'final');
      store.runs.setState(run, 'stopped', null);
      return run;
    });
    const start = () => stageConfig(store, requireStage(store, second), paths).from_checkpoint;
    expect(start()).toMatch(/outputs$/);
    store.runs.setState(newer ?? 0, 'done', null);
    store.runs.claim(resumed ?? 0, { pid: 1, hostId: 'here:1' });
    store.stages.setState(first, 'running');
    interruptRun(store, resumed ?? 0, 'The app ended without ending the run');
    open();
    expect(store.stages.get(first)).toMatchObject({ state: 'failed', reason: 'The app ended without ending the run' });
    expect(start()).toMatch(/models$/);
    expect(stageView(store, requireStage(store, first), paths).run?.id).toBe(resumed);
  });

  it('counts a stage as done once its rule is lowered to what it has reached', async () => {
    const { store, notices, stage, stateOf, open } = await bench();
    changeSettings(store, { auto_promote: true, run_queue: false });
    const [first, second] = [stage({ promotion: impossible }), stage()];
    store.stages.setState(first, 'running');
    const run = addRun(store, { stageId: first, configJson: '{"eval_dataset":"d"}' });
    const row = { runId: run, checkpointId: null, model: 'tiny', dataset: 'd', n: 2, low: null, high: null };
    store.evaluations.add({ ...row, exactMatch: null, metrics: {}, duringTraining: true, step: 2, mean: 0.7 }, []);
    store.runs.setState(run, 'done', null);
    const queue = open();
    const lower = (at_least: number) => {
      changeStage(store, first, { promotion: promotion({ at_least }) });
      queue.reconsider(first);
    };
    lower(0.8);
    expect(store.stages.get(first)).toMatchObject({ state: 'unmet', reason: expect.stringContaining('goal of 0.8') });
    expect([notices.list().length, stateOf(second)]).toEqual([1, 'planned']);
    lower(0.7);
    expect(store.stages.get(first)).toMatchObject({ state: 'done', reason: null });
    expect(stateOf(second)).toBe('queued');
  });

  it('follows a run that a command resumes, after the stage had failed', async () => {
    const { store, stage, open } = await bench();
    changeSettings(store, { auto_promote: true, run_queue: false });
    const [first, second] = [stage(), stage()];
    const run = addRun(store, { stageId: first });
    store.runs.setState(run, 'interrupted', 'killed');
    store.stages.setState(first, 'failed', 'killed');
    const queue = open();
    claimRun(store, run);
    queue.updateEnded();
    expect(store.stages.get(first)).toMatchObject({ state: 'running', reason: null });
    store.runs.setState(run, 'done', null);
    queue.updateEnded();
    expect([store.stages.get(first)?.state, store.stages.get(second)?.state]).toEqual(['done', 'queued']);
  });

  it('reports errors of a stage before it is queued, and those found when it starts', async () => {
    const { store, dataset, notices, stage, stateOf, open, settled } = await bench();
    const queue = open();
    expect(errorOf(() => queue.enqueue(stage({ datasetId: null })))).toMatchObject({ code: 'STAGE_WITHOUT_DATASET' });
    expect(errorOf(() => queue.start(77))).toMatchObject({ code: 'STAGE_UNKNOWN' });
    // Only the trainer can see that the completions don't fit.
    const short = stage();
    const row = requireStage(store, short);
    store.stages.change(short, { ...row, config: { ...row.config, max_completion_length: 1, warm_up_steps: 1 } });
    queue.enqueue(short);
    await settled(short, 'failed');
    expect(store.stages.get(short)?.reason).toContain('max_completion_length');
    expect(store.runs.list()).toEqual([]);
    const gone = stage();
    rmSync(dataset);
    queue.enqueue(gone);
    expect(stateOf(gone)).toBe('failed');
    expect(notices.list()[0]).toMatchObject({ severity: 'error', message: expect.stringContaining(dataset) });
  });

  it('ends a stage early where its rule is met and asks for that', async () => {
    const { store, stage, open, settled } = await bench();
    const rule = promotion({ at_least: 0, end_early: true });
    const id = stage({ steps: 400, promotion: rule });
    const row = requireStage(store, id);
    store.stages.change(id, { ...row, config: { ...row.config, eval_steps: 2 } });
    open().enqueue(id);
    await settled(id, 'done');
    expect(store.runs.list()[0]).toMatchObject({ state: 'stopped' });
    expect(store.runs.list()[0]?.step).toBeLessThan(400);
  });

  it('reports a stage that the user stopped as stopped', async () => {
    const { store, live, stage, open, settled } = await bench();
    const id = stage({ steps: 400 });
    const runId = open().start(id);
    await until(() => (store.runs.get(runId)?.step ?? 0) >= 1);
    live.command(runId, 'stop');
    await settled(id, 'cancelled');
    expect(store.stages.get(id)?.reason).toMatch(/^Stopped at step \d+ of 400$/);
  });

  it('says that the app was closed, and pauses the queue until the stage is resumed', async () => {
    const { live, stage, stateOf, open, settled } = await bench();
    const [first, second] = [stage({ steps: 400 }), stage()];
    const queue = open();
    queue.start(first);
    queue.enqueue(second);
    await until(() => (live.list()[0]?.step ?? 0) >= 1);
    queue.close();
    await live.close(10_000);
    await settled(first, 'cancelled');
    const after = open();
    after.begin();
    expect(after.held()).toMatch(/^"2 words": Stopped at step \d+ of 400, when Braid was closed$/);
    expect([after.heldFor(), stateOf(second)]).toEqual([first, 'queued']);
  });

  it('promotes if enabled, after the work between two stages', async () => {
    const { store, live, stage, stateOf, open, settled } = await bench();
    changeSettings(store, { auto_promote: true });
    const [first, second] = [stage({ promotion: easy }), stage({ promotion: impossible })];
    const third = stage();
    const between: (readonly [string, number])[] = [];
    const queue = open({
      afterStage: async ({ name }) => {
        queue.begin();
        between.push([name, live.list().length]);
      },
    });
    queue.start(first);
    await settled(second, 'unmet');
    expect(between).toEqual([['2 words', 0]]);
    expect(stateOf(third)).toBe('planned');
  });

  it('counts a stage whose rule is met before it trains as met, where promotion is automatic', async () => {
    const { store, paths, stage, open, settled } = await bench();
    changeSettings(store, { auto_promote: true });
    const [first, second, third] = [stage(), stage({ promotion: promotion({ at_least: 0, evaluations: 3 }) }), stage()];
    open().enqueue(first);
    await settled(third, 'done');
    const [last, met, before] = store.runs.list();
    expect(store.stages.get(second)).toMatchObject({ state: 'done', metScore: met?.baselineScore });
    expect(met).toMatchObject({ stageId: second, state: 'stopped', step: 0 });
    expect(met?.reason).toMatch(/^Held-out score \d\.\d{3} before training, its rule requires 0$/);
    expect(store.checkpoints.ofRun(met?.id ?? 0)).toEqual([]);
    // From what the stage in between would have started from.
    expect([last?.stageId, last?.parentRunId]).toEqual([third, before?.id]);
    const view = stageView(store, requireStage(store, second), paths);
    expect(view.handsOn).toMatchObject({ runId: before?.id });
  });

  it('trains such a stage where it is started by hand, or promotion is not automatic', async () => {
    const { store, stage, open, settled } = await bench();
    const [first, second] = [stage({ promotion: easy }), stage({ promotion: easy })];
    const queue = open();
    queue.enqueue(first);
    await settled(first, 'done');
    changeSettings(store, { auto_promote: true });
    queue.start(second);
    await settled(second, 'done');
    expect(store.stages.list().map(({ metScore }) => metScore)).toEqual([null, null]);
    expect(store.runs.list().map(({ state, step }) => [state, step])).toEqual([
      ['done', 2],
      ['done', 2],
    ]);
  });

  it('counts a stage as met by a score that meets its rule, and starts what waits', async () => {
    const { store, paths, stage, open, settled } = await bench();
    const [first, met] = [stage(), stage({ promotion: promotion({ at_least: 0.9 }) })];
    const [free, last] = [stage(), stage()];
    const queue = open();
    queue.enqueue(first);
    await settled(first, 'done');
    expect(errorOf(() => queue.countAsMet(met, 0.89))).toMatchObject({ code: 'RULE_NOT_MET' });
    expect(errorOf(() => queue.countAsMet(free, 1))).toMatchObject({ code: 'RULE_NOT_MET' });
    queue.countAsMet(met, 0.95);
    expect(store.stages.get(met)).toMatchObject({ state: 'done', metScore: 0.95 });
    const [run] = store.runs.list();
    expect(stageView(store, requireStage(store, last), paths).origin).toMatchObject({ runId: run?.id });
    // Trained after all, it is a stage like others.
    queue.start(met);
    await settled(met, 'unmet');
    expect(store.stages.get(met)?.metScore).toBeNull();
  });

  it("passes on a met stage's own start: a checkpoint, or the model itself", async () => {
    const { store, paths, stage, open, settled } = await bench();
    const first = stage();
    const queue = open();
    queue.enqueue(first);
    await settled(first, 'done');
    const own = { ...requireStage(store, first).config, from_checkpoint: null };
    const met = stage({ promotion: promotion({ at_least: 0.9 }), config: own });
    const next = stage();
    queue.countAsMet(met, 1);
    expect(stageConfig(store, requireStage(store, next), paths).from_checkpoint).toBeNull();
  });

  it('continues when the work between two stages fails', async () => {
    const { notices, stage, open, settled } = await bench();
    const [first, second] = [stage(), stage()];
    const queue = open({
      afterStage: () => {
        throw new Error('no room for it');
      },
    });
    queue.enqueue(first);
    queue.enqueue(second);
    await settled(second, 'done');
    expect(notices.list()[0]).toMatchObject({
      severity: 'warning',
      message: 'The work after "2 words" failed: no room for it',
    });
  });

  it('starts nothing where the setting says so, nor once the app is ending', async () => {
    const { store, live, stage, open } = await bench();
    changeSettings(store, { run_queue: false });
    const queue = open();
    const [first, second] = [stage(), stage()];
    queue.enqueue(first);
    expect(live.list()).toEqual([]);
    // Why it was paused is forgotten once it is empty, whether the page or a command has emptied it.
    store.settings.set('queue_hold', { stageId: null, reason: 'old' });
    queue.removeStage(first);
    expect(queue.held()).toBeNull();
    queue.enqueue(second);
    store.settings.set('queue_hold', { stageId: null, reason: 'old' });
    store.stages.setState(second, 'planned');
    queue.updateEnded();
    expect(queue.held()).toBeNull();
    queue.enqueue(second);
    changeSettings(store, { run_queue: true });
    queue.close();
    queue.begin();
    expect(live.list()).toEqual([]);
  });
});

describe('stageConfig', () => {
  it('evaluates and saves six times, and starts from the best checkpoint where the rule says so', async () => {
    const { store, paths, model, stage } = await bench();
    const [first, second] = [
      stage({ promotion: promotion({ at_least: 0.9, hand_on: 'best' }) }),
      stage({ steps: 600 }),
    ];
    const run = addRun(store, { stageId: first, model });
    store.runs.setState(run, 'done', null);
    const scores = { models: 0.95, outputs: 0.9 };
    for (const [place, mean] of Object.entries(scores)) {
      const step = place === 'models' ? 30 : 60;
      store.checkpoints.record(run, step, place, 'periodic');
      const row = { runId: run, checkpointId: null, model: 'tiny', dataset: 'd', n: 2, low: null, high: null };
      store.evaluations.add({ ...row, exactMatch: null, metrics: {}, duringTraining: true, step, mean }, []);
    }
    const config = () => stageConfig(store, requireStage(store, second), paths);
    expect(config()).toMatchObject({ eval_steps: 100, save_steps: 100, max_steps: 600 });
    expect(config().from_checkpoint).toMatch(/models$/);
    expect([...decisiveScores(store, run)]).toEqual([
      [30, 0.95],
      [60, 0.9],
    ]);
    store.stages.change(first, { ...requireStage(store, first), promotion: null });
    expect(config().from_checkpoint).toMatch(/outputs$/);
    expect(decisiveScores(store, run).size).toBe(0);
    store.runs.setState(run, 'collapsed', 'said the same thing');
  });

  it('is refused while the checkpoint of the stage before is on a disk that is away, and takes no earlier one', async () => {
    const { store, paths, root, model, stage } = await bench();
    const [first, second, third] = [stage(), stage(), stage()];
    const folders = ['near', 'far'].map((name) => join(root, name, 'checkpoint-2'));
    for (const [i, stageId] of [first, second].entries()) {
      mkdirSync(folders[i] ?? '', { recursive: true });
      const run = addRun(store, { stageId, model, name: `stage ${i}` });
      store.runs.setState(run, 'done', null);
      store.checkpoints.record(run, 2, folders[i] ?? '', 'final');
    }
    const config = () => stageConfig(store, requireStage(store, third), paths);
    expect(config().from_checkpoint).toBe(folders[1]);
    renameSync(join(root, 'far'), join(root, 'unplugged'));
    expect(errorOf(config)).toMatchObject({
      code: 'RUN_FOLDER_MISSING',
      message: expect.stringMatching(/checkpoint of step 2 of stage 1: its folder .*far can't be found/),
    });
    // A start that the stage names itself, and a checkpoint that is known to be deleted, leave nothing to wait for.
    store.stages.change(third, { ...requireStage(store, third), config: { from_checkpoint: null } });
    store.stages.change(third, { ...requireStage(store, third), config: {} });
    renameSync(join(root, 'unplugged'), join(root, 'far'));
    rmSync(join(root, 'far', 'checkpoint-2'), { recursive: true });
    expect(config().from_checkpoint).toBe(folders[0]);
  });
});

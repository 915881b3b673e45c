import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { discardAfter, recordEvents } from '../../../main/services/runs/events.ts';
import {
  lineage,
  newestCheckpoint,
  newestResumable,
  runDetail,
  runHistory,
} from '../../../main/services/runs/history.ts';
import {
  claimRun,
  createRun,
  finishRun,
  interruptRun,
  markAbandonedRuns,
  rewindRun,
} from '../../../main/services/runs/runs.ts';
import type { Store } from '../../../main/store/index.ts';
import { parseConfig } from '../../../main/trainer/config.ts';
import type { TrainerEvent } from '../../../main/trainer/events.ts';
import { errorOf, sampleOf, temporaryFolder, temporaryStore } from '../../store/helpers.ts';

const config = parseConfig({ dataset: 'datasets/10words.jsonl', max_steps: 60 });

/** What a trainer sends for the steps `from` to `to`: a checkpoint every 2, samples and an evaluation every 3. */
function eventsOf(folder: string, from: number, to: number): TrainerEvent[] {
  const events: TrainerEvent[] = [];
  for (let step = from; step <= to; step++) {
    events.push({ kind: 'step', step, metrics: { reward: step / 10, loss: -step } });
    if (step % 3 === 0) {
      events.push({ kind: 'samples', step, samples: [sampleOf(), sampleOf({ index: 1 })] });
      const items = [
        { id: 'a', completion: 'x', metrics: { alignment: 0.5 } },
        { id: 'b', completion: 'y', metrics: { alignment: 1 } },
      ];
      events.push({ kind: 'evaluation', step, metrics: { eval_exact_match: 0.5 }, items });
      events.push({ kind: 'warning', step, rule: 'kl', message: 'KL is high', remedy: 'Lower the rate.' });
    }
    if (step % 2 === 0) events.push({ kind: 'checkpoint', step, path: join(folder, `checkpoint-${step}`) });
  }
  return events;
}

/** Everything a run stored, without times and row ids. */
function snapshot(store: Store, runId: number) {
  return {
    step: store.runs.get(runId)?.step,
    metrics: store.metrics.seriesOf(runId, store.metrics.names(runId)),
    samples: store.samples.steps(runId).flatMap((step) => store.samples.byStep(runId, step)),
    evaluations: store.evaluations.list({ runId }).map(({ step, mean, n, dataset, exactMatch, id }) => {
      return { step, mean, n, dataset, exactMatch, items: store.evaluations.items(id) };
    }),
    checkpoints: store.checkpoints
      .ofRun(runId)
      .map(({ step, path, kind, deletedAt }) => ({ step, path, kind, deletedAt })),
    warnings: store.events.ofRun(runId).filter((event) => event.kind === 'warning').length,
  };
}

describe('createRun', () => {
  it('registers a running run with its whole configuration and its folder', () => {
    const store = temporaryStore();
    const { runId, name, folder } = createRun(store, config);
    expect(name).toBe('run-0001-10words-grpo');
    expect(folder).toBe(join(store.folder, 'outputs', name));
    expect(existsSync(folder)).toBe(true);
    const detail = runDetail(store, runId);
    expect(detail).toMatchObject({ state: 'running', maxSteps: 60, method: 'grpo', folder, pid: process.pid });
    expect(parseConfig(detail.config)).toEqual(config);
    expect(store.runs.get(runId)?.folder).toBe(`outputs/${name}`);
  });

  it('never takes a folder that is there', () => {
    const store = temporaryStore();
    mkdirSync(join(store.folder, 'outputs', 'run-0001-10words-grpo'), { recursive: true });
    expect(createRun(store, config).name).toBe('run-0001-10words-grpo-2');
  });

  it('registers nothing when the folder cannot be made', () => {
    const store = temporaryStore();
    writeFileSync(join(store.folder, 'outputs'), 'a file in the way');
    expect(() => createRun(store, config)).toThrow(/outputs/);
    expect(store.runs.list()).toEqual([]);
  });
});

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

describe('discardAfter, claimRun and rewindRun', () => {
  it('gives the history of an uninterrupted run', () => {
    const store = temporaryStore();
    const whole = createRun(store, config);
    recordEvents(store, whole.runId, eventsOf(whole.folder, 1, 9));
    const broken = createRun(store, config);
    recordEvents(store, broken.runId, eventsOf(broken.folder, 1, 7));
    interruptRun(store, broken.runId, 'killed');
    rewindRun(store, claimRun(store, broken.runId), 4);
    expect(store.runs.get(broken.runId)).toMatchObject({ state: 'running', step: 4, reason: null, endedAt: null });
    expect(store.metrics.latest(broken.runId).reward?.step).toBe(4);
    recordEvents(store, broken.runId, eventsOf(broken.folder, 5, 9));
    const expected = JSON.stringify(snapshot(store, whole.runId)).replaceAll('run-0001', 'run-0002');
    const ids = JSON.stringify(snapshot(store, broken.runId)).replaceAll(
      `"runId":${broken.runId}`,
      `"runId":${whole.runId}`,
    );
    expect(JSON.parse(ids)).toEqual(JSON.parse(expected));
  });

  it('says in the history what it went back from', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config);
    recordEvents(store, runId, eventsOf(folder, 1, 7));
    interruptRun(store, runId, 'killed by the system');
    rewindRun(store, claimRun(store, runId), 4);
    expect(store.events.ofRun(runId).at(-1)?.message).toBe(
      'Resumed from step 4; it was interrupted at step 7 (killed by the system)',
    );
  });

  it('marks later checkpoints as gone, with the evaluations that were made of them', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config);
    recordEvents(store, runId, [
      ...eventsOf(folder, 1, 6),
      { kind: 'done', step: 6, path: join(folder, 'checkpoint-6'), stopped: false },
    ]);
    const during = store.evaluations.list({ runId }).at(-1);
    if (during === undefined) throw new Error('Expected an evaluation');
    for (const { id: checkpointId, step } of store.checkpoints.ofRun(runId)) {
      const own = { ...during, checkpointId, step, duringTraining: false };
      for (const of of [runId, null]) store.evaluations.add({ ...own, runId: of }, []);
    }
    discardAfter(store, runId, 2);
    expect(store.checkpoints.ofRun(runId).map((row) => [row.step, row.deletedAt === null, row.kind])).toEqual([
      [2, true, 'periodic'],
      [4, false, 'periodic'],
      [6, false, 'periodic'],
    ]);
    expect(store.evaluations.list({ runId }).map((row) => [row.step, row.duringTraining])).toEqual([[2, false]]);
    // Those of comparisons.
    expect(store.evaluations.list().flatMap((row) => (row.runId === null ? [row.step] : []))).toEqual([2, 4, 6]);
  });

  it('rejects a run that is alive here or in another process', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, config);
    expect(errorOf(() => claimRun(store, runId))).toMatchObject({ code: 'RUN_IS_LIVE', kind: 'input' });
    const other = { pid: process.pid + 1, hostId: 'elsewhere:1' };
    expect(errorOf(() => claimRun(store, runId, other))).toMatchObject({
      code: 'RUN_IS_LIVE',
      message: expect.stringContaining(`process ${process.pid}`),
    });
    expect(errorOf(() => claimRun(store, 99))).toMatchObject({ code: 'RUN_UNKNOWN' });
  });

  it('takes a run whose process is gone without being marked first', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, config, { host: { pid: 999_999_999, hostId: `${'nowhere'}:1` } });
    const later = { ...store, now: () => 1e12 };
    claimRun(later, runId);
    expect(store.runs.get(runId)).toMatchObject({ state: 'running', pid: process.pid });
  });
});

describe('the end of a run', () => {
  it('is noted once: an interruption does not touch a run that has ended', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, config);
    finishRun(store, runId, 'collapsed', 'dead groups for 5 steps');
    expect(interruptRun(store, runId, 'gone')).toBe(false);
    expect(store.runs.get(runId)).toMatchObject({ state: 'collapsed', reason: 'dead groups for 5 steps' });
    expect(store.runs.get(runId)?.endedAt).not.toBeNull();
    expect(errorOf(() => finishRun(store, 99, 'done'))).toMatchObject({ code: 'RUN_UNKNOWN' });
  });
});

describe('markAbandonedRuns', () => {
  it('interrupts the runs whose process is gone, and no other', () => {
    const store = temporaryStore();
    const alive = createRun(store, config).runId;
    const { runId: gone, folder } = createRun(store, config, { host: { pid: process.pid, hostId: 'nowhere:1' } });
    writeFileSync(join(folder, 'training.log'), '');
    const paused = createRun(store, config, { host: { pid: 5, hostId: 'nowhere:2' } }).runId;
    recordEvents(store, paused, [{ kind: 'paused', step: 2, reason: 'r', byWatch: false }]);
    const ended = createRun(store, config, { host: { pid: 5, hostId: 'nowhere:2' } }).runId;
    finishRun(store, ended, 'done');
    const later = { ...store, now: () => 1e12 };
    expect(markAbandonedRuns(later).sort()).toEqual([gone, paused]);
    expect(store.runs.get(gone)).toMatchObject({
      state: 'interrupted',
      reason: expect.stringContaining(`${process.pid}`),
    });
    expect(store.runs.get(alive)?.state).toBe('running');
    expect(store.runs.get(ended)?.state).toBe('done');
    expect(markAbandonedRuns(later)).toEqual([]);
    const log = readFileSync(join(folder, 'training.log'), 'utf8');
    expect(log).toMatch(/^.{20} {2}step 0 {2}Error: The app \(process \d+\) quit during the run\n {4}Resume the run/);
    expect(log.match(/quit/g)).toHaveLength(1);
  });

  it('writes nothing outside the folders of runs', () => {
    const store = temporaryStore();
    const { runId, name } = createRun(store, config, { host: { pid: 5, hostId: 'nowhere:2' } });
    const elsewhere = temporaryFolder();
    writeFileSync(join(elsewhere, 'training.log'), 'a diary');
    store.runs.place(runId, name, elsewhere);
    expect(markAbandonedRuns({ ...store, now: () => 1e12 })).toEqual([runId]);
    expect(readFileSync(join(elsewhere, 'training.log'), 'utf8')).toBe('a diary');
  });
});

describe('reading the history', () => {
  it('lists runs with their newest values', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config);
    recordEvents(store, runId, eventsOf(folder, 1, 6));
    createRun(store, config);
    const list = runHistory(store);
    expect(list.map((run) => run.id)).toEqual([2, 1]);
    expect(list[1]).toMatchObject({ latest: { reward: { step: 6, value: 0.6 } }, evaluation: { step: 6, mean: 0.75 } });
    expect(list[0]).toMatchObject({ latest: {}, evaluation: null });
    expect(runHistory(store, { limit: 1 })).toHaveLength(1);
  });

  it('marks checkpoints whose folder is gone, and finds the newest that is there', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config);
    recordEvents(store, runId, eventsOf(folder, 1, 6));
    mkdirSync(join(folder, 'checkpoint-4'));
    expect(readdirSync(folder)).toEqual(['checkpoint-4']);
    expect(newestCheckpoint(store, runId)).toMatchObject({ step: 4, path: join(folder, 'checkpoint-4') });
    expect(runDetail(store, runId)).toMatchObject({ metricNames: ['loss', 'reward'], sampleSteps: [3, 6] });
    expect(newestCheckpoint(store, createRun(store, config).runId)).toBeUndefined();
  });

  it('finds checkpoints again after the disk of their run was away', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config);
    recordEvents(store, runId, eventsOf(folder, 1, 4));
    mkdirSync(join(folder, 'checkpoint-4'));
    renameSync(join(store.folder, 'outputs'), join(store.folder, 'away'));
    expect(newestCheckpoint(store, runId)).toBeUndefined();
    expect(runDetail(store, runId).checkpoints.map(({ deletedAt }) => deletedAt === null)).toEqual([false, false]);
    renameSync(join(store.folder, 'away'), join(store.folder, 'outputs'));
    expect(newestCheckpoint(store, runId)?.step).toBe(4);
    expect(store.checkpoints.ofRun(runId).map(({ deletedAt }) => deletedAt === null)).toEqual([false, true]);
  });

  it('brings back a checkpoint that a killed trainer had set aside, once the run is over', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config);
    recordEvents(store, runId, eventsOf(folder, 1, 2));
    mkdirSync(join(folder, '.checkpoint-2.77-1.old'));
    mkdirSync(join(folder, '.checkpoint-2.77-2.tmp'));
    expect(newestCheckpoint(store, runId)).toBeUndefined();
    expect(readdirSync(folder)).toHaveLength(2);
    store.checkpoints.record(runId, 2, `outputs/run-0001-10words-grpo/checkpoint-2`, 'periodic');
    interruptRun(store, runId, 'killed');
    expect(newestCheckpoint(store, runId)?.step).toBe(2);
    expect(readdirSync(folder)).toEqual(['checkpoint-2']);
  });

  it('follows lineage from run to checkpoint to next run', () => {
    const store = temporaryStore();
    const runs: { runId: number; folder: string }[] = [createRun(store, config)];
    for (const words of [25, 50]) {
      const parent = runs.at(-1);
      if (parent === undefined) throw new Error('Expected a parent');
      recordEvents(store, parent.runId, eventsOf(parent.folder, 1, 2));
      const from = join(parent.folder, 'checkpoint-2');
      runs.push(createRun(store, { ...config, dataset: `${words}words.jsonl`, from_checkpoint: from }));
    }
    const [first, second, third] = runs.map((run) => run.runId);
    const last = lineage(store, third ?? 0);
    expect(last.ancestors.map((run) => [run.id, run.depth])).toEqual([
      [first, 2],
      [second, 1],
    ]);
    expect(last.descendants).toEqual([]);
    const down = lineage(store, first ?? 0).descendants;
    expect(down.map((run) => [run.id, run.fromStep, run.fromPath])).toEqual([
      [second, 2, join(runs[0]?.folder ?? '', 'checkpoint-2')],
      [third, 2, join(runs[1]?.folder ?? '', 'checkpoint-2')],
    ]);
    expect(errorOf(() => lineage(store, 99))).toMatchObject({ code: 'RUN_UNKNOWN' });
  });

  it('starts without a parent from a checkpoint that no run here made', () => {
    const store = temporaryStore();
    const { runId } = createRun(store, { ...config, from_checkpoint: '/elsewhere/checkpoint-5' });
    expect(store.runs.get(runId)).toMatchObject({ parentRunId: null, parentCheckpointId: null });
  });

  it('finds the newest run to resume, or says that there is none', () => {
    const store = temporaryStore();
    expect(errorOf(() => newestResumable(store))).toMatchObject({ code: 'NOTHING_TO_RESUME', kind: 'input' });
    const { runId, folder } = createRun(store, config);
    interruptRun(store, runId, 'r');
    finishRun(store, createRun(store, config).runId, 'done');
    expect(newestResumable(store)).toMatchObject({ id: runId, folder });
  });
});

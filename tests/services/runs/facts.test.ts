import * as fs from 'node:fs';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { diffConfigs } from '../../../main/services/config/diff.ts';
import { readReplyState, remember } from '../../../main/services/replies/stored-state.ts';
import { restoreFolders } from '../../../main/services/runs/folder-removal.ts';
import { runDetail } from '../../../main/services/runs/history.ts';
import { removalOf } from '../../../main/services/runs/removal.ts';
import { resumeLacks } from '../../../main/services/runs/resume-lacks.ts';
import { createRun, finishRun, removeRun } from '../../../main/services/runs/runs.ts';
import { runVerdict } from '../../../main/services/runs/verdict/run-verdict.ts';
import { sparklines } from '../../../main/services/runs/watched-series.ts';
import { sweepLeftovers } from '../../../main/services/workspace/leftovers.ts';
import { requireRunFolder } from '../../../main/services/workspace/own-folders.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { refusedAtFirst } from '../../as-windows.ts';
import { addRun, errorOf, sampleOf, temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

function mkdirOf(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}

const config = parseConfig({ dataset: 'datasets/10words.jsonl', max_steps: 60 });

describe('removalOf', () => {
  it('counts what goes and names the runs that started from its checkpoints', () => {
    const store = temporaryStore();
    const { runId, name, folder } = createRun(store, config);
    for (const step of [2, 4]) {
      const path = join(folder, `checkpoint-${step}`);
      mkdirSync(path);
      writeFileSync(join(path, 'adapter_model.safetensors'), 'x'.repeat(100));
      store.checkpoints.record(runId, step, `outputs/${name}/checkpoint-${step}`, 'periodic');
    }
    store.checkpoints.record(runId, 6, 'outputs/gone', 'periodic');
    store.samples.record(runId, 2, [sampleOf(), sampleOf({ index: 1 })]);
    store.runs.advance(runId, 6);
    const child = createRun(store, { ...config, from_checkpoint: join(folder, 'checkpoint-4') });
    createRun(store, { ...config, from_checkpoint: join(child.folder, 'checkpoint-1') });
    expect(removalOf(store, runId)).toEqual({
      folder,
      bytes: 200,
      steps: 6,
      samples: 2,
      evaluations: 0,
      checkpoints: [2, 4],
      descendants: [{ id: child.runId, name: child.name, fromStep: 4 }],
      stages: [],
      waiting: [],
    });
  });

  it('names the stages, queued runs and sweeps that would start from its checkpoints', () => {
    const store = temporaryStore();
    const { runId, name, folder } = createRun(store, config);
    const start = mkdirOf(join(folder, 'checkpoint-4'));
    store.checkpoints.record(runId, 4, `outputs/${name}/checkpoint-4`, 'final');
    const stage = { datasetId: null, words: 25, steps: 5, promotion: null, config: {} };
    store.stages.add({ ...stage, name: '25 words', position: 0 });
    store.stages.add({ ...stage, name: '50 words', position: 1, config: { from_checkpoint: null } });
    store.queue.addRun('by path', { from_checkpoint: start });
    store.queue.addRun('by name', { from_checkpoint: name });
    store.queue.addRun('other', { from_checkpoint: null });
    const trial = { setting: 0, seed: 1, name: 'trial', config: { from_checkpoint: start }, after: null };
    store.sweeps.add('paused sweep', {}, [trial]);
    const startOf = ({ config: own }: { readonly config: object }) => ({ from_checkpoint: start, ...own });
    const waiting = ['by path', 'by name', 'paused sweep'];
    expect(removalOf(store, runId, startOf)).toMatchObject({ stages: ['25 words'], waiting });
  });

  it('takes a run whose folder is gone, and rejects one that is not there', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config);
    rmSync(folder, { recursive: true });
    expect(removalOf(store, runId).bytes).toBe(0);
    expect(errorOf(() => removalOf(store, 99))).toMatchObject({ code: 'RUN_UNKNOWN' });
  });
});

describe('removeRun', () => {
  it('takes the folder of the run with it, but never the workspace', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config);
    removeRun(store, runId);
    expect([store.runs.get(runId), existsSync(folder)]).toEqual([undefined, false]);
    const homeless = addRun(store);
    finishRun(store, homeless, 'done');
    removeRun(store, homeless);
    expect(existsSync(store.file)).toBe(true);
  });

  it('leaves no reference that the next checkpoint with the same id would answer to', () => {
    const store = temporaryStore();
    const made = [1, 2].map(() => {
      const { runId } = createRun(store, config);
      finishRun(store, runId, 'done');
      return { runId, reference: `checkpoint:${store.checkpoints.record(runId, 4, `outputs/${runId}`, 'final')}` };
    });
    const [kept, gone] = made as [(typeof made)[0], (typeof made)[0]];
    const records = { task: 'interleave', datasets: [], seed: 1, n: 1, records: [{}] };
    const set = store.promptSets.keep({ ...records, hash: 'a' });
    const compared = made.map(({ reference }) => ({ reference, name: reference }));
    const id = store.comparisons.add(set, compared);
    remember(store, { model: kept.reference, start: gone.reference, ticks: { read: 1 } });
    removeRun(store, gone.runId);
    expect(store.comparisons.models(id).map(({ reference }) => reference)).toEqual([
      kept.reference,
      `deleted:${gone.reference}`,
    ]);
    expect(readReplyState(store)).toMatchObject({ model: kept.reference, start: null, ticks: { read: 1 } });
    const { runId } = createRun(store, config);
    expect(`checkpoint:${store.checkpoints.record(runId, 2, 'outputs/next', 'final')}`).toBe(gone.reference);
  });

  it('deletes nothing that a row of the database merely names', () => {
    const place = temporaryFolder();
    const store = temporaryStore(mkdirOf(join(place, 'workspace')));
    mkdirOf(join(store.folder, 'outputs'));
    const thesis = mkdirOf(join(place, 'run-0001-thesis'));
    symlinkSync(thesis, join(store.folder, 'outputs', 'run-0002-link'));
    mkdirOf(join(store.folder, 'outputs', 'run-0003', 'checkpoint-2'));
    const named = ['../run-0001-thesis', thesis, 'outputs', 'outputs/..', '.', 'datasets', 'outputs/run-0002-link'];
    for (const folder of [...named, 'outputs/../../run-0001-thesis', 'outputs/run-0003/checkpoint-2', 'outputs/x']) {
      const runId = addRun(store);
      store.runs.place(runId, 'theirs', folder);
      finishRun(store, runId, 'done');
      expect(removalOf(store, runId), folder).toMatchObject({ folder: null, bytes: 0 });
      expect(errorOf(() => requireRunFolder(store, { id: runId, folder }))).toMatchObject({
        code: 'RUN_FOLDER_OUTSIDE',
      });
      removeRun(store, runId);
      expect(store.runs.get(runId)).toBeUndefined();
    }
    expect(
      [thesis, join(store.folder, 'outputs/run-0003/checkpoint-2'), store.file].map((path) => existsSync(path)),
    ).toEqual([true, true, true]);
  });

  it('rejects a run that another process trains, until that process is gone', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, config, { host: { pid: 7, hostId: 'elsewhere:1' } });
    const refused = { code: 'RUN_IS_LIVE', message: `Run ${runId} is running in process 7` };
    expect(errorOf(() => removeRun(store, runId))).toMatchObject(refused);
    expect([store.runs.get(runId)?.id, existsSync(folder)]).toEqual([runId, true]);
    removeRun({ ...store, now: () => 1e12 }, runId);
    expect([store.runs.get(runId), existsSync(folder)]).toEqual([undefined, false]);
  });

  it('deletes runs where outputs is a link to another disk', () => {
    const store = temporaryStore();
    symlinkSync(temporaryFolder(), join(store.folder, 'outputs'));
    const { runId, folder } = createRun(store, config);
    removeRun(store, runId);
    expect(existsSync(folder)).toBe(false);
  });

  /** A run with a file in its folder. */
  const withMetrics = () => {
    const store = temporaryStore();
    const { runId, name, folder } = createRun(store, config);
    writeFileSync(join(folder, 'metrics.csv'), 'step');
    return { store, runId, name, folder, outputs: dirname(folder) };
  };
  const always = Number.POSITIVE_INFINITY;

  it('leaves everything as it was while a file of the folder is open elsewhere, and says what to do', () => {
    const { store, runId, name, folder, outputs } = withMetrics();
    const before = readdirSync(folder);
    for (const code of ['EBUSY', 'EPERM', 'EACCES']) {
      const renameSync = refusedAtFirst(fs.renameSync, code, always) as typeof fs.renameSync;
      // Windows deletes what it can before it meets the open file.
      expect(errorOf(() => removeRun(store, runId, { ...fs, renameSync }))).toMatchObject({
        code: 'RUN_FOLDER_IN_USE',
        message: expect.stringMatching(
          new RegExp(`^${name} can't be deleted: .*\\(${code}\\)\\. Nothing was deleted$`),
        ),
        remedy: expect.stringContaining('delete the run again'),
      });
      expect([store.runs.get(runId)?.id, readdirSync(folder), readdirSync(outputs)]).toEqual([runId, before, [name]]);
    }
    removeRun(store, runId);
    expect([store.runs.get(runId), readdirSync(outputs)]).toEqual([undefined, []]);
  });

  it('puts the folder back where the history refuses', () => {
    const { store, runId, name, folder, outputs } = withMetrics();
    const full = (): never => {
      throw new Error('the disk is full');
    };
    expect(() => removeRun({ ...store, transaction: full }, runId)).toThrow('the disk is full');
    expect([existsSync(join(folder, 'metrics.csv')), readdirSync(outputs)]).toEqual([true, [name]]);
  });

  it('makes the room that the history needs, on a full disk', () => {
    const { store, runId, outputs } = withMetrics();
    const full = new BraidError('DISK_FULL', 'the disk is full');
    const fits = <T>(work: () => T): T => {
      if (readdirSync(outputs).length > 0) throw full;
      return store.transaction(work);
    };
    removeRun({ ...store, transaction: fits }, runId);
    expect([store.runs.get(runId), readdirSync(outputs)]).toEqual([undefined, []]);

    const other = withMetrics();
    const never = (): never => {
      throw full;
    };
    const error = errorOf(() => removeRun({ ...other.store, transaction: never }, other.runId));
    expect(error).toMatchObject({ code: 'DISK_FULL', message: expect.stringContaining('were deleted') });
    expect(other.store.runs.get(other.runId)).toBeDefined();
    removeRun(other.store, other.runId);
    expect(other.store.runs.get(other.runId)).toBeUndefined();
  });

  it('puts a folder back whose run is still in the history, and no other', () => {
    const { name, folder, outputs } = withMetrics();
    // Killed after the folder was moved, before its run was out of the history.
    fs.renameSync(folder, join(outputs, `.${name}.1-1.tmp`));
    mkdirSync(join(outputs, '.other.1-1.tmp'));
    restoreFolders(outputs, new Set([name]));
    expect(existsSync(join(folder, 'metrics.csv'))).toBe(true);
    expect(readdirSync(outputs).sort()).toEqual(['.other.1-1.tmp', name]);
  });

  it('leaves what can only be moved to a later start', async () => {
    const { store, runId, folder, outputs } = withMetrics();
    const rmSync = refusedAtFirst(fs.rmSync, 'EBUSY', always) as typeof fs.rmSync;
    removeRun(store, runId, { ...fs, rmSync });
    expect([store.runs.get(runId), existsSync(folder), readdirSync(outputs).length]).toEqual([undefined, false, 1]);
    await sweepLeftovers(outputs, { atStart: true, now: Date.now() + 25 * 3_600_000 });
    expect(readdirSync(outputs)).toEqual([]);
  });

  it('deletes in its place what the system can delete but not move', () => {
    const { store, runId, outputs } = withMetrics();
    removeRun(store, runId, { ...fs, renameSync: refusedAtFirst(fs.renameSync, 'EXDEV') as typeof fs.renameSync });
    expect([store.runs.get(runId), readdirSync(outputs)]).toEqual([undefined, []]);
  });

  it('takes a run whose folder is gone', () => {
    const { store, runId, folder } = withMetrics();
    rmSync(folder, { recursive: true });
    removeRun(store, runId);
    expect(store.runs.get(runId)).toBeUndefined();
  });
});

describe('sparklines', () => {
  it('gives the shape of a metric of each run', () => {
    const store = temporaryStore();
    const [first, second] = [addRun(store), addRun(store)];
    for (let step = 1; step <= 4; step++) store.metrics.record(first, step, { reward: step });
    expect(sparklines(store, [first, second], 'reward', 2)).toEqual({ [first]: [1.5, 3.5], [second]: [] });
  });
});

describe('diffConfigs', () => {
  it('lists the fields that differ, in the order of the configuration, with what they do', () => {
    const differing = diffConfigs([config, { ...config, learning_rate: 1e-4, max_steps: 70 }, config]);
    expect(differing.map(({ field, values }) => [field, values])).toEqual([
      ['max_steps', [60, 70, 60]],
      ['learning_rate', [1e-6, 1e-4, 1e-6]],
    ]);
    expect(differing[0]).toMatchObject({
      unit: 'steps',
      meaning: 'Optimiser steps of the run, after those of warm_up_steps.',
    });
  });

  it('shows a field that this version does not know, and one that a run lacks', () => {
    expect(diffConfigs([{ old_field: 1 }, {}])).toEqual([
      { field: 'old_field', values: [1, undefined], meaning: null, unit: null },
    ]);
  });
});

describe('resumeLacks', () => {
  it('names the model and the files that are gone; a bundled model has a name only', () => {
    const store = temporaryStore();
    const lacksOf = (model: string, from_checkpoint: string | null = null) => {
      const run = store.runs.get(addRun(store, { model, configJson: JSON.stringify({ from_checkpoint }) }));
      return run === undefined ? null : resumeLacks(store, run);
    };
    const dataset = 'Its dataset, 10words.jsonl, is missing';
    expect(lacksOf('tiny')).toEqual([dataset]);
    expect(lacksOf(store.folder)).toEqual([dataset]);
    expect(lacksOf('/gone/models/mine')).toEqual(['Its model, mine, is missing', dataset]);
    const start = '/gone/checkpoint-4';
    expect(lacksOf('tiny', start)).toEqual(['The checkpoint it started from, checkpoint-4, is missing', dataset]);
    expect(lacksOf(start, start)).toEqual(['Its model, checkpoint-4, is missing', dataset]);
  });
});

describe('runVerdict', () => {
  it('judges the newest steps of a run', () => {
    const store = temporaryStore();
    const runId = addRun(store, { configJson: JSON.stringify(config) });
    for (let step = 1; step <= 60; step++) {
      store.metrics.record(runId, step, { reward: step / 100, entropy: 0.5, step_time: 1 });
      store.runs.advance(runId, step);
    }
    expect(runVerdict(store, runId)).toMatchObject({ title: 'learning', tone: 'good' });
  });

  it('leaves a run with settings of another version unjudged', () => {
    const store = temporaryStore();
    const runId = addRun(store, { configJson: '{"no_such_setting":1}' });
    expect(runVerdict(store, runId)).toMatchObject({ tone: 'quiet', title: 'unknown' });
  });
});

describe('runDetail', () => {
  it('has the stage with its promotion rule', () => {
    const store = temporaryStore();
    const promotion = { at_least: 0.9, evaluations: 2, hand_on: 'best', end_early: true };
    const stageId = store.stages.add({
      name: '10 words',
      datasetId: null,
      position: 1,
      words: 10,
      steps: 60,
      promotion,
      config: {},
    });
    const { runId } = createRun(store, config, { stageId });
    expect(runDetail(store, runId).stage).toEqual({ id: stageId, name: '10 words', promotion });
    expect(runDetail(store, createRun(store, config).runId).stage).toBe(null);
  });
});

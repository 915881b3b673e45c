import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordEvents } from '../../../main/services/runs/events.ts';
import {
  lineage,
  newestCheckpoint,
  newestResumable,
  runDetail,
  runHistory,
} from '../../../main/services/runs/history.ts';
import { createRun, finishRun, interruptRun } from '../../../main/services/runs/runs.ts';
import { errorOf, temporaryStore } from '../../store/helpers.ts';
import { config, eventsOf } from './run-events.ts';

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
    const stopped = createRun(store, config).runId;
    finishRun(store, stopped, 'stopped');
    expect(newestResumable(store).id).toBe(stopped);
    // A sweep decides how far its runs train.
    store.sweeps.add('s', {}, [{ setting: 0, seed: 42, name: 's', config, after: null }]);
    store.sweeps.startTrial(1, stopped);
    expect(newestResumable(store)).toMatchObject({ id: runId, folder });
  });

  it('finds a newer run that is done and has fewer steps than asked for', () => {
    const store = temporaryStore();
    createRun(store, config);
    interruptRun(store, 1, 'r');
    const { runId, folder } = createRun(store, config);
    mkdirSync(join(folder, 'checkpoint-4'));
    recordEvents(store, runId, [{ kind: 'done', step: 4, path: join(folder, 'checkpoint-4'), stopped: false }]);
    expect(newestResumable(store, 5).id).toBe(runId);
    expect(newestResumable(store, 4).id).toBe(1);
    finishRun(store, 1, 'done');
    expect(errorOf(() => newestResumable(store, 4))).toMatchObject({
      message: expect.stringContaining(`run ${runId}, the newest, is done at step 4`),
      remedy: expect.stringMatching(/train --resume --steps 8`; .* --from .*checkpoint-4/),
    });
  });
});

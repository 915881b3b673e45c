import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { discardAfter, recordEvents } from '../../../main/services/runs/events.ts';
import { claimRun, createRun, interruptRun, rewindRun } from '../../../main/services/runs/runs.ts';
import { errorOf, temporaryStore } from '../../store/helpers.ts';
import { config, eventsOf, snapshot } from './run-events.ts';

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
      for (const ofRun of [runId, null]) store.evaluations.add({ ...own, runId: ofRun }, []);
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

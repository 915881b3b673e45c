import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordEvents } from '../../../main/services/runs/events.ts';
import { runDetail } from '../../../main/services/runs/history.ts';
import { createRun, finishRun, interruptRun, markAbandonedRuns } from '../../../main/services/runs/runs.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { errorOf, temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { config } from './run-events.ts';

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

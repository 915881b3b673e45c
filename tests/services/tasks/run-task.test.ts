import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRun, requireRun } from '../../../main/services/runs/runs.ts';
import { readSample, runSamples } from '../../../main/services/runs/samples/samples.ts';
import { runVerdict } from '../../../main/services/runs/verdict/run-verdict.ts';
import { checkpointTask, runTask } from '../../../main/services/tasks/run-task.ts';
import { readTaskFolder, taskHash } from '../../../main/tasks/folder/source.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { sampleOf, temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { writeTask } from './task-folder.ts';

function runOfTask() {
  const store = temporaryStore();
  const task = readTaskFolder(writeTask(temporaryFolder()));
  const created = createRun(store, parseConfig({ task: task.folder }), { task });
  return { store, task, ...created };
}

describe('runTask', () => {
  it('keeps the text that the run started with, whatever becomes of the folder', () => {
    const { store, task, runId, folder } = runOfTask();
    writeFileSync(join(task.folder, 'reward.ts'), 'export const reward = () => 2;');
    const run = requireRun(store, runId);
    expect(run).toMatchObject({ task: 'say', taskHash: taskHash(task), taskShow: 'aligned' });
    expect(runTask(store, run)).toMatchObject({ name: 'say', definition: task.definition, reward: task.reward });
    expect(checkpointTask(join(folder, 'checkpoint-10'))).toMatchObject({ name: 'say', reward: task.reward });
    expect(folder).toContain('run-0001-say-grpo');
  });

  it('refuses a copy that was changed', () => {
    const { store, runId, folder } = runOfTask();
    writeFileSync(join(folder, 'tasks/say/reward.ts'), 'export const reward = () => 2;');
    expect(() => runTask(store, requireRun(store, runId))).toThrow('it was changed');
    expect(runVerdict(store, runId).title).toBe('unknown');
  });

  it('gives native tasks by their names', () => {
    const store = temporaryStore();
    const { runId, folder } = createRun(store, parseConfig({ task: 'reply' }));
    expect(runTask(store, requireRun(store, runId))).toBe('reply');
    expect(requireRun(store, runId)).toMatchObject({ taskHash: null, taskShow: 'beside' });
    expect(checkpointTask(join(folder, 'checkpoint-1'))).toBeNull();
  });
});

describe('a run of a folder’s task', () => {
  it('is shown by what its task says: aligned without strands, with the reason of a failure', () => {
    const { store, runId } = runOfTask();
    store.samples.record(runId, 1, [sampleOf({ target: 'a b', completion: 'a c', failure: 'reward.ts:1:1: no' })]);
    expect(runSamples(store, runId)).toMatchObject({ task: 'say', show: 'aligned' });
    const shown = readSample(store, { runId, step: 1, group: 0, index: 0 });
    expect(shown).toMatchObject({ show: 'aligned', failure: 'reward.ts:1:1: no' });
    expect(shown.alignment?.words.map(({ kind, strand }) => [kind, strand])).toEqual([
      ['match', null],
      ['wrong', null],
    ]);
  });
});

import { resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkoutPaths } from '../../../main/commands/host-paths.ts';
import { addStage } from '../../../main/services/curriculum/edit.ts';
import { makeDemoDataset, makeStageDatasets } from '../../../main/services/curriculum/stage-datasets.ts';
import { readDataset } from '../../../main/services/datasets/index.ts';
import { openLibrary } from '../../../main/services/library/library.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openJobs } from '../../../main/services/workspace/jobs.ts';
import { openWorkspace } from '../../../main/services/workspace/workspace.ts';
import { interleaveTask } from '../../../main/tasks/interleave/task.ts';
import { temporaryFolder, temporaryStore } from '../../store/helpers.ts';

function library() {
  const root = temporaryFolder();
  const changes = openChanges();
  const opened = openLibrary({
    store: temporaryStore(root),
    workspace: openWorkspace({ workspace: root }),
    paths: checkoutPaths(resolve(import.meta.dirname, '../../..')),
    changes,
    jobs: openJobs(changes),
  });
  onTestFinished(() => opened.close());
  return opened;
}

describe('makeStageDatasets', () => {
  it('takes the bundled texts where the workspace has none, and says what they are insufficient for', async () => {
    const opened = library();
    const { store } = opened;
    const stages = [10, 25, 4000].map((words) => addStage(store, { words }));
    const shortages = await makeStageDatasets(opened);
    expect(shortages.map(({ words }) => words)).toEqual([4000]);
    const names = stages.map((id) => store.datasets.get(store.stages.get(id)?.datasetId ?? 0)?.name);
    expect(names).toEqual(['10words', '25words', undefined]);
    expect(store.texts.list().length).toBeGreaterThan(4);
    // A second stage of a length takes what is there.
    const again = addStage(store, { words: 10 });
    expect(await makeStageDatasets(opened).catch(({ code }) => code)).toBe('TEXTS_TOO_SHORT');
    expect(store.stages.get(again)?.datasetId).toBe(store.stages.get(stages[0] ?? 0)?.datasetId);
    store.stages.remove(stages[2] ?? 0);
    expect(await makeStageDatasets(opened)).toEqual([]);
  });
});

describe('makeDemoDataset', () => {
  it('makes the same pairs every time, and one row', async () => {
    const opened = library();
    const { store } = opened;
    const id = await makeDemoDataset(opened);
    const file = store.datasets.get(id)?.file ?? '';
    const records = readDataset(file, interleaveTask);
    expect(records).toHaveLength(512);
    expect(await makeDemoDataset(opened)).toBe(id);
    expect(readDataset(file, interleaveTask)).toEqual(records);
    expect(store.datasets.get(id)).toMatchObject({ words: 10, trainN: 512, testN: 64, seed: 42 });
  });
});

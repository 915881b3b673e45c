import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkoutPaths } from '../../../main/commands/host-paths.ts';
import { addStage } from '../../../main/services/curriculum/edit.ts';
import { changeSharedSettings } from '../../../main/services/curriculum/shared-settings.ts';
import { makeDemoDataset, makeStageDatasets } from '../../../main/services/curriculum/stage-datasets.ts';
import { defaultPairs, readDataset } from '../../../main/services/datasets/index.ts';
import { removeDataset } from '../../../main/services/library/catalogue.ts';
import { importBundled } from '../../../main/services/library/imports.ts';
import { openLibrary } from '../../../main/services/library/library.ts';
import { makeDatasets } from '../../../main/services/library/make-datasets.ts';
import { runDetail } from '../../../main/services/runs/history.ts';
import { createRun, interruptRun } from '../../../main/services/runs/runs.ts';
import { openChanges } from '../../../main/services/workspace/changes.ts';
import { openJobs } from '../../../main/services/workspace/jobs.ts';
import { openWorkspace } from '../../../main/services/workspace/workspace.ts';
import { processTemplate } from '../../../main/tasks/interleave/prompt.ts';
import { interleaveTask } from '../../../main/tasks/interleave/task.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { temporaryStore } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

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

  it('makes as many pairs as the warm-up of all stages takes', async () => {
    const opened = library();
    const config = { warm_up_steps: 100, warm_up_batch_size: 6 };
    changeSharedSettings(opened.store, { preset: 'interleave-smollm2', config }, opened.paths);
    addStage(opened.store, { words: 10 });
    expect(await makeStageDatasets(opened)).toEqual([]);
    expect(opened.store.datasets.list()[0]).toMatchObject({ words: 10, trainN: 600 });
  });
});

describe('a stage whose own dataset is gone', () => {
  it('gets it again under its own name, with the same records, whatever else has its length', async () => {
    const opened = library();
    const { store } = opened;
    await importBundled(opened);
    const recipe = { seed: 42, template: { name: processTemplate.name, version: processTemplate.version } };
    const options = { ...defaultPairs, ...recipe, stages: [10], name: 'own', replace: false };
    const { made } = await makeDatasets(opened, options);
    const datasetId = made[0]?.id ?? 0;
    const stageId = addStage(store, { words: 10, datasetId });
    const own = () => store.datasets.get(store.stages.get(stageId)?.datasetId ?? 0)?.name;
    const file = store.datasets.get(datasetId)?.file ?? '';
    const records = readDataset(file, interleaveTask);
    const { runId } = createRun(store, parseConfig({ dataset: file }), { name: 'first', stageId });
    interruptRun(store, runId, 'killed');

    rmSync(file);
    expect(runDetail(store, runId).lacks).toEqual(['Its dataset, own-10words.jsonl, is missing']);
    expect(await makeStageDatasets(opened)).toEqual([]);
    expect(readDataset(file, interleaveTask)).toEqual(records);
    expect([runDetail(store, runId).lacks, own()]).toEqual([[], 'own-10words']);

    // Removed: its run still knows it by name.
    removeDataset(opened, datasetId);
    expect(own()).toBeUndefined();
    const other = addStage(store, { words: 10 });
    await makeStageDatasets(opened);
    expect(own()).toBe('own-10words');
    expect(readDataset(file, interleaveTask)).toEqual(records);
    expect(store.datasets.get(store.stages.get(other)?.datasetId ?? 0)?.words).toBe(10);
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

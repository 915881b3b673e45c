/** What comparisons need of the app, on a tiny workspace with two models that answer differently. */
import { join } from 'node:path';
import { disposeModel } from '../../../main/model/model.ts';
import { openChanges } from '../../../main/services/changes.ts';
import { recordDataset } from '../../../main/services/datasets.ts';
import { openJobs } from '../../../main/services/jobs.ts';
import { startComparison } from '../../../main/services/model-comparisons.ts';
import { locateWorkspace } from '../../../main/services/workspace.ts';
import { processTemplate } from '../../../main/tasks/interleave/prompt.ts';
import { writeTinyDataset } from '../../tiny-dataset.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { tinyWorkspace } from '../tiny-workspace.ts';

export const baseline = 'workspace:tiny-test';
export const other = 'workspace:wide';

export async function comparisonHost() {
  const { root, store, paths, dataset } = await tinyWorkspace();
  const workspace = locateWorkspace({ workspace: root });
  disposeModel(await writeTinyModel(join(workspace.models, 'wide'), {}, () => 1.5));
  const changes = openChanges();
  const jobs = openJobs(changes);
  const host = { store, paths: { ...paths, resources: join(root, 'none') }, workspace, changes, jobs };
  const add = (file: string, words: number): number =>
    recordDataset(store, {
      ...{ files: { train: file, test: file.replace('.jsonl', '.test.jsonl') }, words, seed: 3 },
      ...{ train: new Array(12), test: new Array(4), template: processTemplate },
    });
  const datasetId = add(dataset, 2);
  const longer = (): number => add(writeTinyDataset(join(workspace.datasets, '3words.jsonl'), { words: 3 }), 3);
  const prompts = { datasetIds: [datasetId], n: 4, seed: 1 };
  const compare = (models = [other]): number => startComparison(host, { baseline, models, prompts });
  return { host, prompts, compare, longer };
}

/** Waits until no job runs; gives the newest. */
export async function jobEnd({ jobs }: Awaited<ReturnType<typeof comparisonHost>>['host']) {
  while (jobs.list().some(({ state }) => state === 'running')) await new Promise((later) => setTimeout(later, 20));
  return jobs.list()[0];
}

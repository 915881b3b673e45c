/** What comparisons need of the app, on a tiny workspace with two models that answer differently. */

import { join } from 'node:path';
import { disposeModel } from '../../../../main/model/model.ts';
import { modelFingerprint } from '../../../../main/services/comparisons/paired/fingerprint.ts';
import { startComparison } from '../../../../main/services/comparisons/paired/index.ts';
import { freezePrompts, type PromptChoice } from '../../../../main/services/comparisons/paired/prompt-set.ts';
import { storeEvaluation } from '../../../../main/services/comparisons/paired/stored.ts';
import { recordDataset } from '../../../../main/services/datasets/index.ts';
import { interleaveRow } from '../../../../main/services/evaluation/history.ts';
import { summarizeEvaluation } from '../../../../main/services/evaluation/summary.ts';
import { requireModel } from '../../../../main/services/models/list.ts';
import { resolveModelParts } from '../../../../main/services/models/resolve.ts';
import { openChanges } from '../../../../main/services/workspace/changes.ts';
import { openJobs } from '../../../../main/services/workspace/jobs.ts';
import { locateWorkspace } from '../../../../main/services/workspace/workspace.ts';
import { measureCompletion } from '../../../../main/tasks/interleave/metrics.ts';
import { processTemplate } from '../../../../main/tasks/interleave/prompt.ts';
import type { InterleaveRecord } from '../../../../main/tasks/interleave/record.ts';
import { writeTinyDataset } from '../../../tiny-dataset.ts';
import { writeTinyModel } from '../../../tiny-model.ts';
import { tinyWorkspace } from '../../tiny-workspace.ts';

type Host = Awaited<ReturnType<typeof comparisonHost>>['host'];

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
      files: { train: file, test: file.replace('.jsonl', '.test.jsonl') },
      words,
      seed: 3,
      train: new Array(12),
      test: new Array(4),
      template: processTemplate,
      leakage: null,
    });
  const datasetId = add(dataset, 2);
  const longer = (): number => add(writeTinyDataset(join(workspace.datasets, '3words.jsonl'), { words: 3 }), 3);
  const prompts = { datasetIds: [datasetId], n: 4, seed: 1 };
  const compare = (models = [other]): number => startComparison(host, { baseline, models, prompts });
  return { host, prompts, compare, longer };
}

/** Keeps answers as if the models had been asked: the first all wrong, the second all right but with the scores given. */
export function keepAnswers(
  { store, ...host }: Host,
  prompts: PromptChoice,
  scores: readonly (number | undefined)[] = [],
): void {
  const set = freezePrompts({ store, paths: host.paths }, prompts);
  for (const [ref, right] of [
    [baseline, false],
    [other, true],
  ] as const) {
    const entry = requireModel({ store, ...host }, ref);
    const items = (set.records as InterleaveRecord[]).map(({ id, target, words }, i) => {
      const completion = right ? target : target.split(' ').reverse().join(' ');
      const measured = measureCompletion(target, completion);
      const alignment = (right ? scores[i] : undefined) ?? measured.alignment;
      return { id, target, words, completion, ...measured, alignment };
    });
    const evaluation = {
      name: entry.name,
      items,
      summary: summarizeEvaluation(items),
      seconds: 1,
      cut: 0,
      maxCompletionLength: 44,
    };
    const fingerprint = modelFingerprint(resolveModelParts(entry.model, host.paths));
    const kept = { ...evaluation, row: interleaveRow(evaluation) };
    storeEvaluation(store, set, entry, fingerprint, { backend: 'wasm' }, kept);
  }
}

/** Waits until no job runs; gives the newest. */
export async function jobEnd({ jobs }: Pick<Host, 'jobs'>) {
  while (jobs.list().some(({ state }) => state === 'running')) await new Promise((later) => setTimeout(later, 20));
  return jobs.list()[0];
}

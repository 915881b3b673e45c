/** A workspace in which every screen has something to show: texts, datasets, runs, stages, a sweep, a comparison, a reply report. */
import { join, resolve } from 'node:path';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { modelFingerprint } from '../../main/services/comparisons/paired/fingerprint.ts';
import { freezePrompts } from '../../main/services/comparisons/paired/prompt-set.ts';
import { storeEvaluation } from '../../main/services/comparisons/paired/stored.ts';
import { addStage } from '../../main/services/curriculum/edit.ts';
import { interleaveRow } from '../../main/services/evaluation/history.ts';
import { summarizeEvaluation } from '../../main/services/evaluation/summary.ts';
import { type ModelPlaces, requireModel } from '../../main/services/models/list.ts';
import { resolveModelParts } from '../../main/services/models/resolve.ts';
import { importIntoStore, readTexts } from '../../main/services/texts/index.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { openStore, type Store } from '../../main/store/index.ts';
import { measureCompletion } from '../../main/tasks/interleave/metrics.ts';
import type { InterleaveRecord } from '../../main/tasks/interleave/record.ts';
import { madeAnswers, sampleReplies } from '../services/replies/made-answers.ts';
import { makeReport } from '../services/replies/make-report.ts';
import { modelWorkspace } from './model-workspace.ts';
import { seedRun } from './seed-runs.ts';

const paths = checkoutPaths(resolve(import.meta.dirname, '../..'));

/** Creates it and returns its folder. Runs 2 and 3 have samples; run 3 was interrupted. */
export async function fullWorkspace(): Promise<string> {
  const root = await modelWorkspace();
  const workspace = openWorkspace({ workspace: root });
  const store = openStore(workspace.database);
  importIntoStore(store, readTexts([join(paths.datasets, 'source_texts.json')]));
  const [dataset] = store.datasets.list();
  for (const words of [10, 25, 50, 100]) {
    const stage = { name: `${words} words`, words, ...(words === 10 && dataset && { datasetId: dataset.id }) };
    addStage(store, stage);
  }
  seedRun(store, { steps: 40 });
  seedRun(store, { steps: 30, interrupted: 'The trainer was killed: the machine ran out of memory' });
  seedSweep(store);
  seedComparison({ store, workspace, paths });
  await makeReport(store, { resources: paths.resources, dataset: sampleReplies, answersOf: madeAnswers });
  store.close();
  return root;
}

/** A finished sweep of two settings with two seeds. */
function seedSweep(store: Store): void {
  const settings = [1e-3, 1e-4].map((learning_rate) => ({ learning_rate, beta: 0.04 }));
  const trials = settings.flatMap((config, setting) =>
    [42, 43].map((seed) => ({ setting, seed, name: `rates ${setting}/seed_${seed}`, config, after: null })),
  );
  const sweepId = store.sweeps.add('rates', { settings, seeds: [42, 43], rungs: null, factor: null }, trials);
  for (const trial of store.sweeps.trials(sweepId)) {
    const { runId } = seedRun(store, { steps: 10 + trial.setting, config: { seed: trial.seed } });
    store.sweeps.startTrial(trial.id, runId);
    store.sweeps.setTrial(trial, 'done');
  }
  store.sweeps.setState(sweepId, 'done');
}

/** The bundled model, often wrong, against a checkpoint that is right but for some records; stored as if both were asked. */
export function seedComparison(place: ModelPlaces): void {
  const { store, paths } = place;
  const [dataset] = store.datasets.list();
  if (dataset === undefined) throw new Error('Expected a dataset to compare on');
  const set = freezePrompts(place, { datasetIds: [dataset.id], n: 12, seed: 1 });
  const asked = [
    { ref: 'bundled:tiny', wrongEvery: 2 },
    { ref: 'checkpoint:1', wrongEvery: 5 },
  ].map(({ ref, wrongEvery }) => ({ entry: requireModel(place, ref), wrongEvery }));
  for (const { entry, wrongEvery } of asked) {
    const items = (set.records as InterleaveRecord[]).map(({ id, target, words }, i) => {
      const completion = i % wrongEvery === 0 ? target.split(' ').reverse().join(' ') : target;
      return { id, target, words, completion, ...measureCompletion(target, completion) };
    });
    const evaluation = {
      name: entry.name,
      items,
      summary: summarizeEvaluation(items),
      seconds: 1,
      cut: 0,
      maxCompletionLength: 44,
    };
    const fingerprint = modelFingerprint(resolveModelParts(entry.model, paths));
    const kept = { ...evaluation, row: interleaveRow(evaluation) };
    storeEvaluation(store, set, entry, fingerprint, { backend: 'wasm' }, kept);
  }
  const models = asked.map(({ entry: { ref, name } }) => ({ reference: ref, name }));
  store.comparisons.touch(store.comparisons.add(set.id, models));
}

/** A workspace in which every screen has something to show: texts, datasets, runs, stages, a sweep, a reply report. */
import { join, resolve } from 'node:path';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { addStage } from '../../main/services/curriculum/edit.ts';
import { importIntoStore, readTexts } from '../../main/services/texts/index.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { openStore, type Store } from '../../main/store/index.ts';
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

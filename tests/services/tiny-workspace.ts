/** A workspace with a tiny model and dataset, for runs through the real services and a forked trainer. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { disposeModel } from '../../main/model/model.ts';
import { openWorkspace } from '../../main/services/workspace.ts';
import type { Store } from '../../main/store/index.ts';
import { buildKernels } from '../../main/tensor/kernels/build.ts';
import { parseConfig, type TrainConfig } from '../../main/trainer/config.ts';
import { temporaryFolder, temporaryStore } from '../store/helpers.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { checkpointDigests, OF_THE_MACHINE, tinyConfig, withoutTimes } from '../trainer/tiny-run.ts';

export interface TinyWorkspace {
  readonly root: string;
  readonly model: string;
  readonly dataset: string;
  readonly store: Store;
  readonly paths: ReturnType<typeof checkoutPaths>;
  config(changes?: Partial<TrainConfig>): TrainConfig;
}

/** Makes a workspace that goes when the test ends. */
export async function tinyWorkspace(modelChanges: Parameters<typeof writeTinyModel>[1] = {}): Promise<TinyWorkspace> {
  const root = temporaryFolder();
  openWorkspace({ workspace: root });
  const model = join(root, 'models', 'tiny-test');
  disposeModel(await writeTinyModel(model, modelChanges));
  const dataset = writeTinyDataset(join(root, 'datasets', '2words.jsonl'));
  return {
    root,
    model,
    dataset,
    store: temporaryStore(root),
    paths: { ...checkoutPaths(resolve(import.meta.dirname, '../..')), kernels: buildKernels() },
    config: (changes) => parseConfig({ ...tinyConfig, model, dataset, ...changes }),
  };
}

/** Everything that a run left which the machine's speed and its interruptions don't change. */
export function leftBy(store: Store, runId: number, useLora: boolean) {
  const run = store.runs.get(runId);
  const folder = join(store.folder, run?.folder ?? '');
  const names = store.metrics.names(runId).filter((name) => !OF_THE_MACHINE.test(name));
  const checkpoint = store.checkpoints.ofRun(runId).at(-1);
  return {
    state: run?.state,
    step: run?.step,
    metrics: store.metrics.seriesOf(runId, names),
    samples: store.samples
      .steps(runId)
      .flatMap((step) => store.samples.byStep(runId, step))
      .map(({ runId: _, ...sample }) => sample),
    lines: readFileSync(join(folder, 'metrics.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => withoutTimes(JSON.parse(line))),
    log: readFileSync(join(folder, 'sample_outputs.log'), 'utf8'),
    checkpoint: [checkpoint?.step, checkpoint?.kind],
    bytes: checkpointDigests(join(store.folder, checkpoint?.path ?? ''), useLora),
  };
}

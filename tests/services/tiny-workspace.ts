/** A workspace with a tiny model and dataset, for runs through the real services and a forked trainer. */
import { join } from 'node:path';
import { disposeModel } from '../../main/model/model.ts';
import type { HostPaths } from '../../main/services/workspace/paths.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import type { Store } from '../../main/store/index.ts';
import { buildKernels } from '../../main/tensor/kernels/build.ts';
import { parseConfig, type TrainConfig } from '../../main/trainer/config/config.ts';
import { tinyConfig } from '../left-by.ts';
import { processPaths } from '../processes/paths.ts';
import { temporaryStore } from '../store/helpers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { writeTinyModel } from '../tiny-model.ts';

export { leftBy } from '../left-by.ts';

export interface TinyWorkspace {
  readonly root: string;
  readonly model: string;
  readonly dataset: string;
  readonly store: Store;
  readonly paths: HostPaths;
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
    paths: { ...processPaths(), kernels: buildKernels() },
    config: (changes) => parseConfig({ ...tinyConfig, model, dataset, ...changes }),
  };
}

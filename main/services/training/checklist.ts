/** The checklist before a long run: each item done, open or failed, why, and what to do. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Store } from '../../store/index.ts';
import { taskFacts } from '../../tasks/index.ts';
import type { TrainConfig } from '../../trainer/config.ts';
import { datasetFiles } from '../datasets/index.ts';
import { type RecordFacts, recordFacts } from '../datasets/record-facts.ts';
import { modelArgument } from '../models/resolve.ts';
import { findTask } from '../tasks/find-task.ts';
import type { HostPaths } from '../workspace/paths.ts';
import {
  type ChecklistItem,
  diskItem,
  fileItem,
  memoryItem,
  modelItem,
  overlapItem,
  rewardItem,
  trialItem,
  warmStart,
} from './checklist-items.ts';

/** Checks everything that a run of this configuration needs. */
export function checklist(store: Store, config: TrainConfig, paths: HostPaths): readonly ChecklistItem[] {
  const files = filesOf(config);
  const task = findTask(config.task, { workspace: store.folder, paths });
  const model = modelItem(store, config, paths);
  return [
    model,
    ...warmStart(store, config),
    ...datasetItems(files, recordFacts({ task, files })),
    ...[rewardItem(config, taskFacts(task)), memoryItem(store, config, paths), diskItem(store.folder)],
    ...(config.task === 'reply'
      ? [trialItem(store, model.state === 'done' ? modelArgument(model.detail, paths) : config.model)]
      : []),
  ];
}

/** The files that a run reads: its dataset, and its held-out records. */
function filesOf(config: TrainConfig): readonly [train: string, test: string] {
  const train = resolve(config.dataset);
  return [train, config.eval_dataset === null ? datasetFiles(train).test : resolve(config.eval_dataset)];
}

function datasetItems(
  [train, test]: readonly [train: string, test: string],
  { files, shared: [overlap] }: RecordFacts,
): ChecklistItem[] {
  const remedy = 'Fix the file, or generate it again.';
  const dataset = fileItem('dataset', train, files[0], remedy);
  if (!existsSync(test)) {
    const next = 'Set eval_dataset: without held-out records there is neither a baseline nor a held-out score.';
    return [dataset, { name: 'held_out', state: 'open', detail: `no held-out records at ${test}`, next }];
  }
  const heldOut = fileItem('held_out', test, files[1], remedy);
  if (overlap === undefined) return [dataset, heldOut];
  return [dataset, heldOut, overlapItem('disjoint', overlap.records, 'no held-out prompt is in the training data')];
}

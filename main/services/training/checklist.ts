/** What a run needs that can be checked without a trainer process: each item done, open or failed, why, what to do. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Store } from '../../store/index.ts';
import { taskFacts } from '../../tasks/index.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import { datasetFiles } from '../datasets/index.ts';
import { type RecordFacts, recordFacts } from '../datasets/record-facts.ts';
import type { Check } from '../doctor/check.ts';
import { modelArgument } from '../models/resolve.ts';
import { findTask } from '../tasks/find-task.ts';
import type { HostPaths } from '../workspace/paths.ts';
import {
  type ChecklistItem,
  diskItem,
  expectedCheckpoints,
  fileItem,
  memoryItem,
  modelItem,
  open,
  overlapItem,
  rewardItem,
  trialItem,
  warmStart,
} from './checklist-items.ts';

/** Reads the records of a run's files; a thread of its own for those of any size. */
type ReadFacts = (input: Parameters<typeof recordFacts>[0]) => RecordFacts | Promise<RecordFacts>;

/** Checks everything that a run of this configuration needs. */
export async function checklist(
  store: Store,
  config: TrainConfig,
  paths: HostPaths,
  read: ReadFacts = recordFacts,
): Promise<readonly ChecklistItem[]> {
  const files = filesOf(config);
  const task = findTask(config.task, { workspace: store.folder, paths });
  const model = modelItem(store, config, paths);
  const facts = await read({ task, files });
  return [
    model,
    ...warmStart(store, config),
    ...datasetItems(files, facts),
    ...[
      rewardItem(config, taskFacts(task)),
      ...fieldsItem(facts),
      memoryItem(store, config, paths),
      diskItem(store.folder, expectedCheckpoints(store, config, paths)),
    ],
    ...(config.task === 'reply'
      ? [trialItem(store, model.state === 'done' ? modelArgument(model.detail, paths) : config.model)]
      : []),
  ];
}

/** Fields that the reward reads and some records lack, of either file. */
function fieldsItem({ files }: RecordFacts): ChecklistItem[] {
  const missing = new Set(files.flatMap((file) => (file.kind === 'good' ? file.missing : [])));
  if (missing.size === 0) return [];
  const next = 'Check that the reward expects that: it gets undefined or null there.';
  return [open('fields', [...missing].join('; '), next)];
}

const STATUS = { done: 'OK', open: 'WARN', failed: 'FAIL' } as const;
const STATE = { OK: 'done', WARN: 'open', FAIL: 'failed' } as const;

/** An item as a line of the pre-flight check. */
export function checkOf({ name, state, detail, next }: ChecklistItem): Check {
  const words = name.replaceAll('_', ' ');
  return { name: `${words.charAt(0).toUpperCase()}${words.slice(1)}`, status: STATUS[state], detail, next };
}

/** A line of the pre-flight check as an item, as `--json` names it. */
export function itemOf({ name, status, detail, next }: Check): ChecklistItem {
  return { name: name.toLowerCase().replace(/[^a-z0-9]+/g, '_'), state: STATE[status], detail, next };
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
    return [dataset, open('held_out', `no held-out records at ${test}`, next)];
  }
  const heldOut = fileItem('held_out', test, files[1], remedy);
  if (overlap === undefined) return [dataset, heldOut];
  return [dataset, heldOut, overlapItem('disjoint', overlap.records, 'no held-out prompt is in the training data')];
}

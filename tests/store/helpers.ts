import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Sample } from '../../main/samples/sample.ts';
import { openStore, type Store } from '../../main/store/index.ts';
import type { NewRun } from '../../main/store/runs.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A store on a file of its own, whose clock advances by one at each reading. */
export function temporaryStore(folder = temporaryFolder()): Store {
  let time = 1_000;
  const store = openStore(join(folder, 'braid.db'), { now: () => time++ });
  onTestFinished(() => store.close());
  return store;
}

export const host = { pid: 1, hostId: 'here:1' };

export function addRun(store: Store, changes: Partial<NewRun> = {}): number {
  const run: NewRun = {
    name: 'run',
    method: 'grpo',
    task: 'interleave',
    taskHash: null,
    taskShow: 'aligned',
    stageId: null,
    dataset: 'datasets/10words.jsonl',
    model: 'tiny',
    configJson: '{"eval_dataset":"held-out.jsonl"}',
    parentRunId: null,
    parentCheckpointId: null,
    maxSteps: 100,
    ...changes,
  };
  return store.runs.insert(run, host);
}

export function sampleOf(changes: Partial<Sample> = {}): Sample {
  return {
    recordId: 'r1',
    group: 0,
    index: 0,
    prompt: 'Two processes run side by side',
    target: 'red one blue two',
    completion: 'red one blue',
    reward: 0.75,
    advantage: 0.5,
    components: { alignment: 0.75 },
    length: 4,
    terminated: true,
    ...changes,
  };
}

/** The error that `work` throws. */
export function errorOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('Expected an error, got none');
}

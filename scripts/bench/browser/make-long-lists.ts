/** The workspace of long-lists.ts. */
import { cpSync, linkSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createRun, finishRun } from '../../../main/services/runs/runs.ts';
import { openWorkspace } from '../../../main/services/workspace/workspace.ts';
import { openStore, type Store } from '../../../main/store/index.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';

const RUNS = 10_000;
const CHECKPOINTS = 2000;
const DATASETS = 500;
const TASKS = 300;
const BLOCK = 100;
const STEPS = 6;

const resources = resolve(import.meta.dirname, '../../../resources');
const tiny = join(resources, 'models/tiny');
const methods = ['grpo', 'sft', 'polychromic-grpo', 'polychromic-sft'] as const;

export function makeLongLists(root: string): void {
  const store = openStore(openWorkspace({ workspace: root }).database);
  for (let from = 0; from < RUNS; from += BLOCK) addRuns(store, from);
  addDatasets(store);
  store.close();
  for (let i = 0; i < TASKS; i++)
    cpSync(join(resources, 'tasks/exact-match'), join(root, 'tasks', `questions-of-the-second-survey-${padded(i)}`), {
      recursive: true,
    });
}

const padded = (i: number): string => String(i).padStart(4, '0');

function addRuns(store: Store, from: number): void {
  const ids = store.transaction(() =>
    Array.from({ length: BLOCK }, (_, at) => {
      const i = from + at;
      const config = parseConfig({
        dataset: `datasets/d${padded(i % DATASETS)}.jsonl`,
        method: methods[i % methods.length],
        max_steps: STEPS,
        seed: i,
      });
      const name = `sweep of learning rates, rate ${padded(Math.floor(i / 5))}/seed_${i % 5}`;
      const { runId, folder } = createRun(store, config, { name });
      for (let step = 1; step <= STEPS; step++)
        store.metrics.record(runId, step, { reward: 0.4 + 0.08 * step, loss: 1 / step, step_time: 1 });
      if (i % (RUNS / CHECKPOINTS) === 0) addCheckpoint(store, runId, folder);
      store.runs.advance(runId, STEPS);
      store.runs.setBaseline(runId, 0.5);
      return runId;
    }),
  );
  for (const id of ids) finishRun(store, id, id % 11 === 0 ? 'failed' : 'done');
}

/** Links to the bundled model: two thousand copies would be gigabytes. */
function addCheckpoint(store: Store, runId: number, folder: string): void {
  const path = join(folder, `checkpoint-${STEPS}`);
  mkdirSync(path, { recursive: true });
  for (const file of readdirSync(tiny)) linkSync(join(tiny, file), join(path, file));
  store.checkpoints.record(runId, STEPS, path.slice(store.folder.length + 1), 'final');
}

function addDatasets(store: Store): void {
  const folder = join(store.folder, 'datasets');
  mkdirSync(folder, { recursive: true });
  store.transaction(() => {
    for (let i = 0; i < DATASETS; i++) {
      const file = join(folder, `d${padded(i)}.jsonl`);
      for (const path of [file, file.replace(/\.jsonl$/, '.test.jsonl')]) writeFileSync(path, '{"id":"1"}\n');
      store.datasets.record({
        name: `pairs of river texts, attempt ${padded(i)}`,
        file,
        task: 'interleave',
        template: 'process v1',
        words: [10, 25, 50][i % 3] ?? 10,
        trainN: 100,
        testN: 20,
        seed: i,
        textHash: null,
        leakage: { titles: 0, pairs: i % 4 === 0 ? 3 : 0 },
      });
    }
  });
}

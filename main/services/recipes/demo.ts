/**
 * The main job from end to end on the bundled model: a dataset from the bundled texts, a GRPO stage, and baseline and
 * trained checkpoint on the same held-out pairs.
 */
import { join } from 'node:path';
import { BraidError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { processTemplate } from '../../tasks/interleave/prompt.ts';
import { interleaveTask } from '../../tasks/interleave/task.ts';
import { parseConfig, type TrainConfig } from '../../trainer/config/config.ts';
import type { TrainerEvent } from '../../trainer/protocol/trainer-events.ts';
import { readPreset } from '../config/presets.ts';
import {
  type DatasetFiles,
  decideSides,
  divideCorpus,
  findLeakage,
  generateDataset,
  readDataset,
  recordDataset,
  sidesOf,
  writeDataset,
} from '../datasets/index.ts';
import { evaluateModels, type ModelEvaluation } from '../evaluation/evaluate.ts';
import { storeModelEvaluation } from '../evaluation/history.ts';
import { type Comparison, compareEvaluations } from '../evaluation/summary.ts';
import { findCheckpoint } from '../runs/runs.ts';
import { bundledTextFiles } from '../texts/bundled.ts';
import { readCorpus } from '../texts/index.ts';
import type { RunOutcome } from '../training/run-outcome.ts';
import { type LiveRun, startTraining } from '../training/training.ts';
import type { HostPaths } from '../workspace/paths.ts';
import type { Workspace } from '../workspace/workspace.ts';

export interface DemoOptions {
  readonly paths: HostPaths;
  readonly workspace: Workspace;
  readonly seed: number;
  readonly backend: TrainConfig['backend'];
  readonly threads: number;
  readonly words: number;
  /** Called when a part starts. */
  readonly onPart?: (part: 'dataset' | 'baseline' | 'training' | 'trained') => void;
  readonly onProgress?: (done: number, total: number) => void;
  readonly onEvents?: (events: readonly TrainerEvent[]) => void;
  readonly onRun?: (run: LiveRun) => void;
}

export interface DemoResult {
  readonly outcome: RunOutcome;
  readonly backend: string;
  readonly baseline: ModelEvaluation;
  /** null if the run was stopped before its first checkpoint. */
  readonly trained: ModelEvaluation | null;
  readonly comparison: Comparison | null;
}

/** Runs the demo; everything it produces stays in the workspace's history. */
export async function runDemo(store: Store, options: DemoOptions): Promise<DemoResult> {
  const { paths, seed, backend, threads } = options;
  options.onPart?.('dataset');
  const dataset = makeDemoFiles(store, options);
  const records = readDataset(dataset.test, interleaveTask);
  const answer = (name: string, folder: string) =>
    evaluateModels({
      models: [{ name, folder }],
      dataset: records,
      paths,
      backend,
      threads,
      seed,
      ...(options.onProgress && { onProgress: ({ done, total }) => options.onProgress?.(done, total) }),
    });

  options.onPart?.('baseline');
  const config = parseConfig(
    { ...readPreset('interleave-tiny', paths), dataset: dataset.train, seed, backend, threads },
    'demo',
  );
  const before = await answer('baseline', config.model);
  const baseline = first(before.results);

  options.onPart?.('training');
  const run = startTraining(store, config, { paths, ...(options.onEvents && { onEvents: options.onEvents }) });
  store.transaction(() => store.runs.setBaseline(run.runId, baseline.summary.mean_alignment));
  options.onRun?.(run);
  const outcome = await run.outcome;
  const origin = { model: config.model, dataset: dataset.test };
  storeModelEvaluation(store, { ...origin, runId: null, checkpointId: null, step: 0 }, baseline);
  if (outcome.error !== null) throw outcome.error;
  if (outcome.checkpoint === null || outcome.state !== 'done') {
    return { outcome, backend: before.backend, baseline, trained: null, comparison: null };
  }

  options.onPart?.('trained');
  const trained = first((await answer('trained', outcome.checkpoint)).results);
  const checkpointId = findCheckpoint(store, outcome.checkpoint)?.id ?? null;
  storeModelEvaluation(store, { ...origin, runId: run.runId, checkpointId, step: outcome.step }, trained);
  return {
    outcome,
    backend: before.backend,
    baseline,
    trained,
    comparison: compareEvaluations(baseline.items, trained.items, seed),
  };
}

function first(results: readonly ModelEvaluation[]): ModelEvaluation {
  const result = results[0];
  if (result === undefined) throw new BraidError('NO_EVALUATION', 'Expected the evaluation of a model, got none');
  return result;
}

/** The demo's dataset from the bundled texts; the same seed gives the same files. */
export function makeDemoFiles(
  store: Store,
  { paths, workspace, seed, words }: Pick<DemoOptions, 'paths' | 'workspace' | 'seed' | 'words'>,
): DatasetFiles {
  const texts = readCorpus(bundledTextFiles(paths.datasets));
  const made = generateDataset({ texts, words, seed });
  if (made.kind === 'shortage') throw new BraidError('TEXTS_TOO_SHORT', made.reason, { kind: 'input' });
  const name = `demo-${words}words-seed${seed}`;
  const written = writeDataset(join(workspace.datasets, `${name}.jsonl`), made);
  const { train, test } = made;
  const leakage = findLeakage(train, test);
  // Later datasets may use the same texts: what was trained on here isn't held out there.
  decideSides(store, sidesOf(divideCorpus(texts, seed)));
  recordDataset(store, { files: written, words, train, test, seed, template: processTemplate, leakage });
  return written;
}

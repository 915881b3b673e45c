/** Evaluations of checkpoints, kept where the workspace knows the checkpoint. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { openStore, type Store } from '../store/index.ts';
import { splitWords } from '../text/words.ts';
import type { ModelEvaluation } from './evaluate.ts';
import type { ScoredItem } from './evaluations.ts';
import { findCheckpoint, requireRun } from './runs.ts';
import type { Workspace } from './workspace.ts';

/** Stores an evaluation if `model` is a checkpoint of a workspace that is there already; gives its run, else null. */
export function rememberEvaluation(
  workspace: Pick<Workspace, 'database'>,
  model: string,
  dataset: string,
  evaluation: ModelEvaluation,
): number | null {
  // Looking must not create a workspace.
  if (!existsSync(workspace.database)) return null;
  const store = openStore(workspace.database);
  try {
    return addEvaluation(store, model, dataset, evaluation);
  } finally {
    store.close();
  }
}

function addEvaluation(store: Store, model: string, dataset: string, evaluation: ModelEvaluation): number | null {
  const checkpoint = findCheckpoint(store, resolve(model));
  if (checkpoint === undefined) return null;
  const run = requireRun(store, checkpoint.runId);
  const origin = { runId: run.id, checkpointId: checkpoint.id, step: checkpoint.step };
  storeModelEvaluation(store, { ...origin, model: run.model, dataset: resolve(dataset) }, evaluation);
  return run.id;
}

/** What an evaluation belongs to; no run and no checkpoint for a model as it came. */
export interface EvaluationOrigin {
  readonly runId: number | null;
  readonly checkpointId: number | null;
  readonly step: number;
  readonly model: string;
  readonly dataset: string;
}

/** Stores an evaluation with its items. Gives its id. */
export function storeModelEvaluation(
  store: Store,
  origin: EvaluationOrigin,
  { items, summary }: ModelEvaluation,
): number {
  return store.transaction(() =>
    store.evaluations.add(
      {
        ...origin,
        n: summary.n,
        mean: summary.mean_alignment,
        low: summary.low,
        high: summary.high,
        exactMatch: summary.exact_match,
        metrics: { eval_alignment: summary.mean_alignment, eval_exact_match: summary.exact_match },
        duringTraining: false,
      },
      items.map(itemRow),
    ),
  );
}

function itemRow({ id, completion, target, alignment, exact_match, first_error }: ScoredItem) {
  const lengthRatio = splitWords(completion).length / Math.max(1, splitWords(target).length);
  return {
    recordId: id,
    completion,
    score: alignment,
    metrics: { alignment, exact_match, first_error, length_ratio: lengthRatio },
  };
}

/** Evaluations of checkpoints, stored if the workspace knows the checkpoint. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { EvaluationItemRow, NewEvaluation } from '../../store/evaluations.ts';
import { openStore, type Store } from '../../store/index.ts';
import { splitWords } from '../../text/words.ts';
import { findCheckpoint, requireRun } from '../runs/runs.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { ModelEvaluation, RewardEvaluation } from './evaluate.ts';
import type { ScoredItem } from './summary.ts';

/** An evaluation of either task for the history. */
export type KeptEvaluation = Pick<NewEvaluation, 'n' | 'mean' | 'low' | 'high' | 'exactMatch' | 'metrics'> & {
  readonly items: readonly EvaluationItemRow[];
};

/** Stores an evaluation if `model` is a checkpoint of an existing workspace; returns its run, otherwise null. */
export function rememberEvaluation(
  workspace: Pick<Workspace, 'database'>,
  model: string,
  dataset: string,
  evaluation: KeptEvaluation,
): number | null {
  // Reading must not create a workspace.
  if (!existsSync(workspace.database)) return null;
  const store = openStore(workspace.database);
  try {
    return addEvaluation(store, model, dataset, evaluation);
  } finally {
    store.close();
  }
}

function addEvaluation(store: Store, model: string, dataset: string, evaluation: KeptEvaluation): number | null {
  const checkpoint = findCheckpoint(store, resolve(model));
  if (checkpoint === undefined) return null;
  const run = requireRun(store, checkpoint.runId);
  const origin = { runId: run.id, checkpointId: checkpoint.id, step: checkpoint.step };
  add(store, { ...origin, model: run.model, dataset: resolve(dataset) }, evaluation);
  return run.id;
}

/** What an evaluation belongs to; no run and no checkpoint for a base model. */
export interface EvaluationOrigin {
  readonly runId: number | null;
  readonly checkpointId: number | null;
  readonly step: number;
  readonly model: string;
  readonly dataset: string;
}

/** Stores an evaluation with its items. Returns its id. */
export function storeModelEvaluation(store: Store, origin: EvaluationOrigin, evaluation: ModelEvaluation): number {
  return storeEvaluationRow(store, origin, interleaveRow(evaluation));
}

/** The same for an evaluation of any task. */
export function storeEvaluationRow(store: Store, origin: EvaluationOrigin, evaluation: KeptEvaluation): number {
  return add(store, origin, evaluation);
}

function add(store: Store, origin: EvaluationOrigin, { items, ...numbers }: KeptEvaluation): number {
  return store.transaction(() => store.evaluations.add({ ...origin, ...numbers, duringTraining: false }, items));
}

/** An interleave evaluation for the history. */
export function interleaveRow({ items, summary }: ModelEvaluation): KeptEvaluation {
  const { n, mean_alignment: mean, low, high, exact_match: exactMatch } = summary;
  const metrics = { eval_alignment: mean, eval_exact_match: exactMatch };
  return { n, mean, low, high, exactMatch, metrics, items: items.map(itemRow) };
}

/** A reply evaluation for the history. */
export function rewardRow({ items, summary, rewardCost }: RewardEvaluation): KeptEvaluation {
  const { n, mean_reward: mean, low, high, measures } = summary;
  const means = Object.entries(measures).map(([name, interval]) => [`eval_${name}`, interval.mean]);
  const paid = rewardCost === undefined ? {} : { eval_reward_cost: rewardCost };
  return {
    n,
    mean,
    low,
    high,
    exactMatch: null,
    metrics: { eval_reward: mean, ...Object.fromEntries(means), ...paid },
    items: items.map(({ id: recordId, ...item }) => ({ recordId, ...item, score: item.metrics.reward ?? Number.NaN })),
  };
}

function itemRow({ id, completion, target, alignment, exact_match, first_error }: ScoredItem): EvaluationItemRow {
  const lengthRatio = splitWords(completion).length / Math.max(1, splitWords(target).length);
  return {
    recordId: id,
    completion,
    score: alignment,
    metrics: { alignment, exact_match, first_error, length_ratio: lengthRatio },
  };
}

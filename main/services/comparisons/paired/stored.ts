/** Evaluations of a prompt set in the workspace. */
import type { Store } from '../../../store/index.ts';
import type { InterleaveRecord } from '../../../tasks/interleave/record.ts';
import type { Evaluations, ModelEvaluation } from '../../evaluation/evaluate.ts';
import { storeModelEvaluation } from '../../evaluation/history.ts';
import type { EvaluationSummary, ScoredItem } from '../../evaluation/summary.ts';
import type { ModelEntry } from '../../models/list.ts';
import type { PromptSet } from './prompt-set.ts';

/** The stored summary of an evaluation: computed once, read whenever a comparison is opened. */
export interface KeptNumbers {
  readonly summary: EvaluationSummary;
  readonly backend: string;
  readonly seconds: number;
}

/** Stores an evaluation of a prompt set. Returns its id. */
export function storeEvaluation(
  store: Store,
  prompts: PromptSet,
  entry: ModelEntry,
  fingerprint: string,
  { backend }: Pick<Evaluations, 'backend'>,
  evaluation: ModelEvaluation,
): number {
  // It has no run: runs show evaluations on their own held-out records only.
  const origin = { runId: null, checkpointId: entry.checkpointId, step: entry.step ?? 0, model: entry.model };
  const dataset = store.promptSets.get(prompts.id)?.datasets.join(', ') ?? '';
  const numbers: KeptNumbers = { summary: evaluation.summary, backend, seconds: evaluation.seconds };
  return store.transaction(() => {
    const id = storeModelEvaluation(store, { ...origin, dataset }, evaluation);
    store.promptSets.attach(id, prompts.id, fingerprint, numbers);
    return id;
  });
}

/** The summary of an evaluation; null if it was deleted. */
export function storedSummary(store: Pick<Store, 'promptSets'>, evaluationId: number): KeptNumbers | null {
  return (store.promptSets.summary(evaluationId) as KeptNumbers | undefined) ?? null;
}

/** An evaluation's items with their targets, in the order of the records. */
export function storedItems(
  store: Pick<Store, 'evaluations'>,
  evaluationId: number,
  records: readonly InterleaveRecord[],
): ScoredItem[] {
  const items = new Map(store.evaluations.items(evaluationId).map((item) => [item.recordId, item]));
  return records.flatMap(({ id, target, words }) => {
    const item = items.get(id);
    if (item === undefined) return [];
    const { exact_match = 0, first_error = 0 } = item.metrics;
    return [{ id, target, words, completion: item.completion, alignment: item.score, exact_match, first_error }];
  });
}

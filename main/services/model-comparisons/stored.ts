/** Evaluations of a prompt set as the workspace keeps them. */
import type { Store } from '../../store/index.ts';
import type { InterleaveRecord } from '../../tasks/interleave/record.ts';
import type { Evaluations, ModelEvaluation } from '../evaluate.ts';
import { storeModelEvaluation } from '../evaluation-history.ts';
import type { EvaluationSummary, ScoredItem } from '../evaluations.ts';
import type { ModelEntry } from '../model-list.ts';
import type { PromptSet } from './prompt-set.ts';

/** What is kept beside an evaluation's items: made once, read whenever a comparison is opened. */
export interface KeptNumbers {
  readonly summary: EvaluationSummary;
  readonly backend: string;
  readonly seconds: number;
}

/** Keeps an evaluation of a prompt set. Gives its id. */
export function keepEvaluation(
  store: Store,
  prompts: PromptSet,
  entry: ModelEntry,
  fingerprint: string,
  { backend }: Pick<Evaluations, 'backend'>,
  evaluation: ModelEvaluation,
): number {
  // It belongs to no run: runs show what was measured on their own held-out records.
  const origin = { runId: null, checkpointId: entry.checkpointId, step: entry.step ?? 0, model: entry.model };
  const dataset = store.promptSets.get(prompts.id)?.datasets.join(', ') ?? '';
  const numbers: KeptNumbers = { summary: evaluation.summary, backend, seconds: evaluation.seconds };
  return store.transaction(() => {
    const id = storeModelEvaluation(store, { ...origin, dataset }, evaluation);
    store.promptSets.attach(id, prompts.id, fingerprint, numbers);
    return id;
  });
}

/** The numbers beside an evaluation; null where it is gone. */
export function keptNumbers(store: Pick<Store, 'promptSets'>, evaluationId: number): KeptNumbers | null {
  return (store.promptSets.summary(evaluationId) as KeptNumbers | undefined) ?? null;
}

/** An evaluation's items with their targets, in the order of the records. */
export function keptItems(
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

/** Evaluations of a prompt set in the workspace. */
import { writtenOf } from '../../../samples/completion.ts';
import type { Store } from '../../../store/index.ts';
import { splitWords } from '../../../text/words.ts';
import type { ModelParts } from '../../../trainer/policy/model-parts.ts';
import type { Evaluations } from '../../evaluation/evaluate.ts';
import { type KeptEvaluation, storeEvaluationRow } from '../../evaluation/history.ts';
import type { EvaluationSummary, ScoredItem } from '../../evaluation/summary.ts';
import type { ModelEntry } from '../../models/list.ts';
import type { PromptSet } from './prompt-set.ts';

/** The stored summary of an evaluation: computed once, read whenever a comparison is opened. */
export interface KeptNumbers {
  readonly summary: EvaluationSummary;
  readonly backend: string;
  readonly seconds: number;
  /** What judges cost, in the currency of their price; absent: nobody is paid. */
  readonly rewardCost?: number;
  /** How the model was asked, where that isn't what its folder says. */
  readonly chat?: ModelParts['chat'];
  /** The longest completions that a model of the comparison was trained with, if one says. */
  readonly limit?: number | null;
}

/** What a model's evaluation leaves: the row of the history, and the numbers of the comparison. */
export interface EvaluatedModel {
  readonly row: KeptEvaluation;
  readonly summary: EvaluationSummary;
  readonly seconds: number;
  readonly rewardCost?: number | undefined;
  readonly chat?: ModelParts['chat'];
  /** The longest completions that a model of the comparison was trained with, if one says. */
  readonly limit?: number | null;
}

/** Stores an evaluation of a prompt set. Returns its id. */
export function storeEvaluation(
  store: Store,
  prompts: PromptSet,
  entry: ModelEntry,
  fingerprint: string,
  { backend }: Pick<Evaluations, 'backend'>,
  { row, summary, seconds, rewardCost, chat, limit = null }: EvaluatedModel,
): number {
  // It has no run: runs show evaluations on their own held-out records only.
  const origin = { runId: null, checkpointId: entry.checkpointId, step: entry.step ?? 0, model: entry.model };
  const dataset = store.promptSets.get(prompts.id)?.datasets.join(', ') ?? '';
  const numbers: KeptNumbers = {
    summary,
    backend,
    seconds,
    ...(rewardCost !== undefined && { rewardCost }),
    ...(chat !== undefined && { chat }),
    ...(limit !== null && { limit }),
  };
  return store.transaction(() => {
    const id = storeEvaluationRow(store, { ...origin, dataset }, row);
    store.promptSets.attach(id, prompts.id, fingerprint, numbers);
    return id;
  });
}

/** The summary of an evaluation; null if it was deleted. */
export function storedSummary(store: Pick<Store, 'promptSets'>, evaluationId: number): KeptNumbers | null {
  const kept = store.promptSets.summary(evaluationId) as KeptNumbers | undefined;
  if (kept === undefined) return null;
  // JSON has no NaN: numbers of nothing are stored as null.
  const number = (value: number | null): number => value ?? Number.NaN;
  const { mean_alignment, low, high } = kept.summary;
  const numbers = { mean_alignment: number(mean_alignment), low: number(low), high: number(high) };
  return { ...kept, summary: { ...kept.summary, ...numbers } };
}

/** An evaluation's items with their targets, in the order of the records. */
export function storedItems(
  store: Pick<Store, 'evaluations'>,
  evaluationId: number,
  { task, records }: Pick<PromptSet, 'task' | 'records'>,
): ScoredItem[] {
  const items = new Map(store.evaluations.items(evaluationId).map((item) => [item.recordId, item]));
  return records.flatMap((record) => {
    const { id } = record;
    const item = items.get(id);
    if (item === undefined) return [];
    const { success = 0, exact_match = success, first_error = 0 } = item.metrics;
    const target = task.target(record);
    return [
      {
        id,
        target,
        words: wordsOf(record, target),
        ...writtenOf(item),
        alignment: item.score,
        exact_match,
        first_error,
      },
    ];
  });
}

/** What a page groups prompts by: the words of a fragment, or of the target. */
export function wordsOf(record: object, target: string): number {
  if ('words' in record && typeof record.words === 'number') return record.words;
  return target === '' ? 0 : splitWords(target).length;
}

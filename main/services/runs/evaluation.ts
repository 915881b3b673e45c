/** Evaluations by the trainer between two steps, for the history. */

import { hashString, randomStream } from '../../random.ts';
import { writtenOf } from '../../samples/completion.ts';
import type { Store } from '../../store/index.ts';
import { storedObject } from '../../store/json.ts';
import type { RunRow } from '../../store/runs.ts';
import { mainMetricOf } from '../../tasks/index.ts';
import { bootstrapMean } from '../../text/intervals.ts';
import type { TrainerEvent } from '../../trainer/protocol/trainer-events.ts';

type EvaluationEvent = Extract<TrainerEvent, { kind: 'evaluation' }>;

/** Stores the evaluation and its items; the same step and dataset again replaces it. Step 0 is the run's baseline. */
export function storeEvaluation(store: Store, run: RunRow, event: EvaluationEvent): number {
  const main = mainMetricOf(run.task);
  const items = event.items.map((item) => ({
    recordId: item.id,
    ...writtenOf(item),
    score: item.metrics[main] ?? Number.NaN,
    metrics: item.metrics,
  }));
  const { mean, low, high } = interval(items.map((item) => item.score));
  if (event.step === 0) store.runs.setBaseline(run.id, mean);
  return store.evaluations.add(
    {
      runId: run.id,
      checkpointId: null,
      model: run.model,
      dataset: evaluationDataset(run),
      step: event.step,
      n: items.length,
      mean,
      low,
      high,
      exactMatch: event.metrics.eval_exact_match ?? null,
      metrics: event.metrics,
      duringTraining: true,
    },
    items,
  );
}

/** The mean of the available scores, with its 95% interval; deterministic. */
function interval(scores: readonly number[]): { mean: number; low: number | null; high: number | null } {
  const present = scores.filter((score) => !Number.isNaN(score));
  if (present.length === 0) return { mean: Number.NaN, low: null, high: null };
  const { mean, low, high } = bootstrapMean(present, randomStream(42, hashString('bootstrap')).next);
  return { mean, low, high };
}

/** As the trainer chooses it: the held-out file next to the dataset unless another is given. */
export function evaluationDataset(run: Pick<RunRow, 'configJson' | 'dataset'>): string {
  return namedDataset(run) ?? run.dataset.replace(/(\.jsonl)?$/, '.test.jsonl');
}

/** A list of runs asks for this: a configuration that can't be read must not take the other runs with it. */
function namedDataset({ configJson }: Pick<RunRow, 'configJson'>): string | null {
  try {
    const { eval_dataset: named } = storedObject(configJson, 'a configuration');
    return typeof named === 'string' ? named : null;
  } catch {
    return null;
  }
}

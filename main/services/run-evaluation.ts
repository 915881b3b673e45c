/** An evaluation that the trainer made between two steps, as the history stores it. */
import { hashString, randomStream } from '../random.ts';
import type { Store } from '../store/index.ts';
import type { RunRow } from '../store/runs.ts';
import { taskByName } from '../tasks/index.ts';
import { bootstrapMean } from '../text/intervals.ts';
import type { TrainerEvent } from '../trainer/events.ts';

type EvaluationEvent = Extract<TrainerEvent, { kind: 'evaluation' }>;

/** Stores the evaluation and its items; the same step and dataset again replaces it. Step 0 is the run's baseline. */
export function storeEvaluation(store: Store, run: RunRow, event: EvaluationEvent): number {
  const main = taskByName(run.task).mainMetric;
  const items = event.items.map((item) => ({
    recordId: item.id,
    completion: item.completion,
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
      ...{ mean, low, high },
      exactMatch: event.metrics.eval_exact_match ?? null,
      metrics: event.metrics,
      duringTraining: true,
    },
    items,
  );
}

/** The mean of the scores that there are, with its 95 % interval; the same scores give the same ends. */
function interval(scores: readonly number[]): { mean: number; low: number | null; high: number | null } {
  const present = scores.filter((score) => !Number.isNaN(score));
  if (present.length === 0) return { mean: Number.NaN, low: null, high: null };
  const { mean, low, high } = bootstrapMean(present, randomStream(42, hashString('bootstrap')).next);
  return { mean, low, high };
}

/** As the trainer chooses it: the held-out file beside the dataset unless another is named. */
export function evaluationDataset(run: Pick<RunRow, 'configJson' | 'dataset'>): string {
  const config = JSON.parse(run.configJson) as { readonly eval_dataset?: string | null };
  return config.eval_dataset ?? run.dataset.replace(/(\.jsonl)?$/, '.test.jsonl');
}

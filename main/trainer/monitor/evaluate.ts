/** Held-out evaluation: greedy completions of frozen prompts, measured by the task. */
import type { Task } from '../../tasks/task.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import type { EvaluationItem, Metrics } from '../events.ts';
import { generateWithin } from '../memory/generate-within.ts';
import type { Policy } from '../policy.ts';
import { answerOf } from '../rollout.ts';

export interface EvaluateOptions {
  readonly maxNewTokens: number;
  /** Records between two reports of progress. */
  readonly batchSize: number;
  /** In MiB, for keys, values and logits: it decides how many records are decoded together. */
  readonly activationMb: number;
  /** Called with the number of records done. */
  readonly onProgress?: (done: number) => void;
  /** Called after each decoding step. */
  readonly onToken?: () => void;
}

export interface Evaluation {
  /** `eval_<metric>` means over all records. */
  readonly metrics: Metrics;
  readonly items: readonly EvaluationItem[];
}

/** Completes every record greedily and measures it. */
export function evaluate(
  task: Task,
  policy: Policy,
  records: readonly TokenRecord[],
  decode: (ids: readonly number[]) => string,
  options: EvaluateOptions,
): Evaluation {
  const items: EvaluationItem[] = [];
  for (let start = 0; start < records.length; start += options.batchSize) {
    const batch = records.slice(start, start + options.batchSize);
    const completions = generateWithin(
      policy,
      batch.map(({ promptIds }) => promptIds),
      options.activationMb,
      {
        numGenerations: 1,
        maxNewTokens: options.maxNewTokens,
        eosTokenIds: policy.model.config.eosTokenIds,
        temperature: 0,
        topK: 0,
        topP: 1,
        minP: null,
        repetitionPenalty: 1,
        coordinates: [0],
        ...(options.onToken && { onToken: options.onToken }),
      },
    );
    const answers = batch.map(({ record }, i) => answerOf(record, completions[i], decode(completions[i]?.ids ?? [])));
    task.measure(answers).forEach((metrics, i) => {
      const { record, completion = '' } = answers[i] ?? {};
      items.push({ id: record?.id ?? '', completion, metrics });
    });
    options.onProgress?.(items.length);
  }
  return { items, metrics: meanMetrics(items) };
}

/** `eval_<metric>`: means over all items, ignoring NaN. */
function meanMetrics(items: readonly EvaluationItem[]): Metrics {
  const sums = new Map<string, { sum: number; n: number }>();
  for (const { metrics } of items) {
    for (const [name, value] of Object.entries(metrics)) {
      if (Number.isNaN(value)) continue;
      const entry = sums.get(name) ?? { sum: 0, n: 0 };
      sums.set(name, { sum: entry.sum + value, n: entry.n + 1 });
    }
  }
  return Object.fromEntries([...sums].map(([name, { sum, n }]) => [`eval_${name}`, sum / n]));
}

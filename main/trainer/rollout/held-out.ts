/** Held-out evaluation: greedy completions of frozen prompts, measured by the task. */
import { UNFILTERED } from '../../model/sampler.ts';
import { withStops } from '../../model/stop-strings.ts';
import { writtenOf } from '../../samples/completion.ts';
import type { Task } from '../../tasks/task.ts';
import type { TokenRecord } from '../batching/prompts.ts';
import type { EvaluationItem, Metrics } from '../protocol/trainer-events.ts';
import { type EpisodeContext, sampleEpisodes } from './episodes.ts';
import { answerOf } from './score.ts';

export interface EvaluateOptions {
  readonly maxNewTokens: number;
  /** Records between two reports of progress. */
  readonly batchSize: number;
  /** Called with the number of records done. */
  readonly onProgress?: (done: number) => void;
  /** Called after each decoding step. */
  readonly onToken?: () => void;
}

export interface Evaluation {
  /** `eval_<metric>` means over all records. */
  readonly metrics: Metrics;
  readonly items: readonly EvaluationItem[];
  /** Completions that were cut off. */
  readonly cut: number;
}

/** Completes every record greedily and measures it. */
export async function evaluate(
  context: EpisodeContext & { readonly task: Task },
  records: readonly TokenRecord[],
  options: EvaluateOptions,
): Promise<Evaluation> {
  const { task, tokenizer } = context;
  const { decode } = withStops(tokenizer);
  const items: EvaluationItem[] = [];
  let cut = 0;
  for (let start = 0; start < records.length; start += options.batchSize) {
    const batch = records.slice(start, start + options.batchSize);
    const completions = await sampleEpisodes(context, batch, {
      numGenerations: 1,
      maxNewTokens: options.maxNewTokens,
      temperature: 0,
      ...UNFILTERED,
      coordinates: [0],
      ...(options.onToken && { onToken: options.onToken }),
    });
    cut += completions.filter(({ terminated }) => !terminated).length;
    const answers = batch.map((prompt, i) => answerOf(prompt, completions[i], decode));
    task.measure(answers).forEach((metrics, i) => {
      const answer = answers[i];
      if (answer !== undefined) items.push({ id: answer.record.id, ...writtenOf(answer), metrics });
    });
    options.onProgress?.(items.length);
  }
  return { items, cut, metrics: meanMetrics(items) };
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

/** Job: several models answer the same held-out records, one after the other. */
import { loadTokenizer } from '../model/tokenizer.ts';
import { taskByName } from '../tasks/index.ts';
import type { TaskRecord } from '../tasks/task.ts';
import type { BackendChoice } from './backend.ts';
import type { TrainConfig } from './config.ts';
import { evaluate } from './evaluate.ts';
import type { EvaluationItem } from './events.ts';
import type { JobIo } from './job-io.ts';
import { endTokensOf, type ModelParts, openPolicy } from './open-policy.ts';
import { completionLength, encodeRecords, endToken, longestPrompt } from './prompts.ts';

export interface EvaluateJob extends BackendChoice {
  readonly kind: 'evaluate';
  readonly task: TrainConfig['task'];
  readonly models: readonly (ModelParts & { readonly name: string })[];
  readonly records: readonly TaskRecord[];
  /** Records decoded together. */
  readonly batchSize: number;
  /** In tokens; null: computed from the records' longest target. */
  readonly maxCompletionLength: number | null;
}

export interface ModelAnswers {
  readonly name: string;
  readonly items: readonly EvaluationItem[];
  /** Loading included. */
  readonly seconds: number;
}

export interface EvaluateResult {
  readonly models: readonly ModelAnswers[];
}

/** Evaluates the models in their order; each is loaded, asked and let go. */
export async function runEvaluateJob(job: EvaluateJob, io: JobIo): Promise<EvaluateResult> {
  const models: ModelAnswers[] = [];
  const total = job.models.length * job.records.length;
  for (const model of job.models) {
    const began = performance.now();
    const before = models.length * job.records.length;
    const items = await evaluateModel(job, model, (done) => io.progress(before + done, total, 'prompts'));
    models.push({ name: model.name, items, seconds: (performance.now() - began) / 1000 });
  }
  return { models };
}

async function evaluateModel(
  job: EvaluateJob,
  parts: ModelParts,
  onDone: (done: number) => Promise<void>,
): Promise<EvaluationItem[]> {
  const task = taskByName(job.task).fit(job.records);
  const tokenizer = loadTokenizer(parts.tokenizer);
  const records = encodeRecords(task, tokenizer, job.records, endToken(tokenizer, endTokensOf(parts)));
  const maxNewTokens = completionLength(records, { max_completion_length: job.maxCompletionLength });
  const { policy, dispose } = openPolicy(parts, longestPrompt(records) + maxNewTokens);
  const items: EvaluationItem[] = [];
  try {
    // Batch by batch, so that between two of them the news can leave the process.
    for (let first = 0; first < records.length; first += job.batchSize) {
      const batch = records.slice(first, first + job.batchSize);
      const options = { maxNewTokens, batchSize: job.batchSize };
      items.push(...evaluate(task, policy, batch, (ids) => tokenizer.decode(ids), options).items);
      await onDone(items.length);
    }
    return items;
  } finally {
    dispose();
  }
}

/** Job: several models complete the same held-out records, one after the other. */

import { append } from '../../lists.ts';
import { openTask } from '../../tasks/index.ts';
import type { Task } from '../../tasks/task.ts';
import { openPolicies, type PolicyOpener } from '../memory/open-policy.ts';
import type { ModelParts } from '../policy/model-parts.ts';
import type { EvaluationItem } from '../protocol/trainer-events.ts';
import { evaluate } from '../rollout/held-out.ts';
import { openMeaning } from '../stage/meaning.ts';
import { type AskedModels, openAnswering } from './answering-model.ts';
import type { JobIo } from './job-io.ts';
import { sampler } from './sampler.ts';

/** Without an encoder, relevance is judged by words. */
export interface EvaluateJob extends AskedModels {
  readonly kind: 'evaluate';
  /** Records decoded together. */
  readonly batchSize: number;
}

export interface ModelAnswers {
  readonly name: string;
  readonly items: readonly EvaluationItem[];
  /** Of their completions, those that were cut off, at so many tokens. */
  readonly cut: number;
  readonly maxCompletionLength: number;
  /** Including loading. */
  readonly seconds: number;
  /** What judges cost, in the currency of their price; absent: nobody is paid. */
  readonly rewardCost?: number;
}

export interface EvaluateResult {
  readonly models: readonly ModelAnswers[];
}

/** Evaluates the models in order; those of one base share its weights. */
export async function runEvaluateJob(job: EvaluateJob, io: JobIo): Promise<EvaluateResult> {
  const models: ModelAnswers[] = [];
  const total = job.models.length * job.records.length;
  const opener = openPolicies(job.models);
  const meaning = job.relevanceModel ? openMeaning(job.relevanceModel) : null;
  const task = openTask(job.task, job.rewardWorker, job.rewardAccess ?? null).fit(job.records, meaning?.similarity);
  try {
    // Even without completions it loads the reward, and finds that one can't run.
    task.score([]);
    for (const model of job.models) {
      const began = performance.now();
      const before = models.length * job.records.length;
      const onDone = (done: number): Promise<void> => io.progress(before + done, total, 'prompts');
      const answered = await evaluateModel(job, task, model, opener, io, onDone);
      const { reward_cost: rewardCost } = task.takeMetrics?.() ?? {};
      const seconds = (performance.now() - began) / 1000;
      models.push({ name: model.name, ...answered, seconds, ...(rewardCost !== undefined && { rewardCost }) });
    }
    return { models };
  } finally {
    task.close();
    meaning?.dispose();
    opener.close();
  }
}

async function evaluateModel(
  job: EvaluateJob,
  task: Task,
  parts: ModelParts,
  { open }: PolicyOpener,
  { alive }: Pick<JobIo, 'alive'>,
  onDone: (done: number) => Promise<void>,
): Promise<Pick<ModelAnswers, 'items' | 'cut' | 'maxCompletionLength'>> {
  const model = openAnswering(parts, task, job, open);
  const { tokenizer, records, maxNewTokens } = model;
  const items: EvaluationItem[] = [];
  let cut = 0;
  try {
    // In batches, so that progress can be sent between them.
    for (let first = 0; first < records.length; first += job.batchSize) {
      const batch = records.slice(first, first + job.batchSize);
      const options = { maxNewTokens, batchSize: job.batchSize, onToken: alive };
      const done = await evaluate({ engine: sampler(model), task, tokenizer }, batch, options);
      append(items, done.items);
      cut += done.cut;
      await onDone(items.length);
    }
    return { items, cut, maxCompletionLength: maxNewTokens };
  } finally {
    model.dispose();
  }
}

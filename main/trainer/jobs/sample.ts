/**
 * Job: several models each sample n completions of the same prompts, with the same random numbers: a number depends
 * on seed, prompt, completion and position alone (random.ts), so models differ only by their own distributions.
 */

import { append } from '../../lists.ts';
import { adapterNorms, type ModuleNorm } from '../../model/adapter-norms.ts';
import { UNFILTERED } from '../../model/sampler.ts';
import { withStops } from '../../model/stop-strings.ts';
import { hashString } from '../../random.ts';
import { type Completed, completedOf } from '../../samples/completion.ts';
import { inGroupsOf } from '../../tasks/groups.ts';
import { openTask } from '../../tasks/index.ts';
import type { Task, TaskMetrics } from '../../tasks/task.ts';
import { openPolicies, type PolicyOpener } from '../memory/open-policy.ts';
import { sampleEpisodes } from '../rollout/episodes.ts';
import { answerOf } from '../rollout/score.ts';
import { openMeaning } from '../stage/meaning.ts';
import { type AskedModels, openAnswering } from './answering-model.ts';
import type { JobIo } from './job-io.ts';
import { sampler } from './sampler.ts';

export interface SampleJob extends AskedModels {
  readonly kind: 'sample';
  /** Whether the task measures the completions too; false or absent: no reward is computed, nobody is paid. */
  readonly measured?: boolean;
  /** Completions per prompt. */
  readonly samples: number;
  readonly temperature: number;
  readonly seed: number;
  /** Prompts between two reports of progress; they share the coordinates of their random numbers. */
  readonly batchSize: number;
}

export interface SampledModel {
  readonly name: string;
  /** [record][sample] */
  readonly completions: readonly (readonly Completed[])[];
  /** The same; null: nobody asked for it. */
  readonly measures: readonly (readonly TaskMetrics[])[] | null;
  /** Share that ended by themselves, within so many tokens. */
  readonly terminated: number;
  readonly maxCompletionLength: number;
  /** Of the adapter; null for a full model. */
  readonly norms: readonly ModuleNorm[] | null;
  /** Including loading. */
  readonly seconds: number;
}

export interface SampleResult {
  readonly models: readonly SampledModel[];
  /** What judges cost for all models, in the currency of their price; null: nobody is paid. */
  readonly rewardCost: number | null;
}

const SAMPLE_STREAM = hashString('compare');

/** Samples from the models in order; those of one base share its weights. */
export async function runSampleJob(job: SampleJob, io: JobIo): Promise<SampleResult> {
  const models: SampledModel[] = [];
  const total = job.models.length * job.records.length;
  const opener = openPolicies(job.models);
  // Unless it measures, a thread is started for an environment alone.
  const task = openTask(job.task, job.rewardWorker, job.rewardAccess ?? null);
  const meaning = job.relevanceModel ? openMeaning(job.relevanceModel) : null;
  const measuring = job.measured ? task.fit(job.records, meaning?.similarity) : null;
  try {
    // Finds a reward that can't run before anything is sampled.
    measuring?.score([]);
    for (const model of job.models) {
      const before = models.length * job.records.length;
      const onDone = (done: number): Promise<void> => io.progress(before + done, total, 'prompts');
      models.push(await sampleModel(job, { task, measuring }, model, opener, io, onDone));
    }
    return { models, rewardCost: measuring?.takeMetrics?.().reward_cost ?? null };
  } finally {
    task.close();
    meaning?.dispose();
    opener.close();
  }
}

async function sampleModel(
  job: SampleJob,
  { task, measuring }: { readonly task: Task; readonly measuring: Task | null },
  parts: SampleJob['models'][number],
  { open }: PolicyOpener,
  { alive }: Pick<JobIo, 'alive'>,
  onDone: (done: number) => Promise<void>,
): Promise<SampledModel> {
  const began = performance.now();
  const model = openAnswering(parts, task, job, open);
  const { policy, tokenizer, records, maxNewTokens } = model;
  const { decode } = withStops(tokenizer);
  const completions: Completed[][] = [];
  const measures: TaskMetrics[][] = [];
  let terminated = 0;
  try {
    for (let first = 0; first < records.length; first += job.batchSize) {
      const batch = records.slice(first, first + job.batchSize);
      const made = await sampleEpisodes({ engine: sampler(model), task, tokenizer }, batch, {
        numGenerations: job.samples,
        maxNewTokens,
        temperature: job.temperature,
        ...UNFILTERED,
        coordinates: [job.seed, SAMPLE_STREAM, first],
        onToken: alive,
      });
      terminated += made.filter((completion) => completion.terminated).length;
      const answers = made.flatMap((one, i) => {
        const prompt = batch[Math.floor(i / job.samples)];
        return prompt === undefined ? [] : [answerOf(prompt, one, decode)];
      });
      const byRecord = <T>(all: readonly T[]): T[][] =>
        batch.map((_, i) => all.slice(i * job.samples, (i + 1) * job.samples));
      append(completions, byRecord(answers.map(completedOf)));
      append(measures, byRecord(measuring?.measure(inGroupsOf(answers, job.samples)) ?? []));
      await onDone(completions.length);
    }
    return {
      name: parts.name,
      completions,
      measures: measuring === null ? null : measures,
      terminated: terminated / (records.length * job.samples),
      maxCompletionLength: maxNewTokens,
      norms: policy.adapter === null ? null : adapterNorms(policy.adapter),
      seconds: (performance.now() - began) / 1000,
    };
  } finally {
    model.dispose();
  }
}

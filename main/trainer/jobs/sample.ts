/**
 * Job: several models each sample n completions of the same prompts, with the same random numbers: a number depends
 * on seed, prompt, completion and position alone (random.ts), so models differ only by their own distributions.
 */
import { adapterNorms, type ModuleNorm } from '../../model/adapter-norms.ts';
import { loadTokenizer } from '../../model/tokenizer.ts';
import { hashString } from '../../random.ts';
import { openTask, type TaskSource } from '../../tasks/index.ts';
import type { TaskRecord } from '../../tasks/task.ts';
import type { BackendChoice } from '../backend.ts';
import { completionLength, encodeRecords, endToken, longestPrompt } from '../batching/prompts.ts';
import { generateWithin } from '../memory/generate-within.ts';
import {
  checkParts,
  endTokensOf,
  type ModelParts,
  openPolicies,
  type PolicyOpener,
  vocabularyOf,
} from '../open-policy.ts';
import type { JobIo } from './job-io.ts';

export interface SampleJob extends BackendChoice {
  readonly kind: 'sample';
  readonly task: TaskSource;
  readonly models: readonly (ModelParts & { readonly name: string })[];
  readonly records: readonly TaskRecord[];
  /** Completions per prompt. */
  readonly samples: number;
  readonly temperature: number;
  readonly seed: number;
  /** Prompts between two reports of progress; they share the coordinates of their random numbers. */
  readonly batchSize: number;
  /** In tokens; null: computed from the records' longest reference. */
  readonly maxCompletionLength: number | null;
}

export interface SampledModel {
  readonly name: string;
  /** [record][sample] */
  readonly completions: readonly (readonly string[])[];
  /** Share that ended by themselves. */
  readonly terminated: number;
  /** Of the adapter; null for a full model. */
  readonly norms: readonly ModuleNorm[] | null;
  /** Including loading. */
  readonly seconds: number;
}

export interface SampleResult {
  readonly models: readonly SampledModel[];
}

const SAMPLE_STREAM = hashString('compare');

/** Samples from the models in order; those of one base share its weights. */
export async function runSampleJob(job: SampleJob, io: JobIo): Promise<SampleResult> {
  const models: SampledModel[] = [];
  const total = job.models.length * job.records.length;
  const opener = openPolicies(job.models);
  try {
    for (const model of job.models) {
      const before = models.length * job.records.length;
      const onDone = (done: number): Promise<void> => io.progress(before + done, total, 'prompts');
      models.push(await sampleModel(job, model, opener, io, onDone));
    }
    return { models };
  } finally {
    opener.close();
  }
}

async function sampleModel(
  job: SampleJob,
  parts: SampleJob['models'][number],
  { open }: PolicyOpener,
  { alive }: Pick<JobIo, 'alive'>,
  onDone: (done: number) => Promise<void>,
): Promise<SampledModel> {
  const began = performance.now();
  checkParts(parts);
  const tokenizer = loadTokenizer(parts.tokenizer);
  const eos = endToken(tokenizer, endTokensOf(parts));
  // It scores nothing, so it starts no thread.
  const task = openTask(job.task, '');
  const records = encodeRecords(task, tokenizer, job.records, eos, vocabularyOf(parts));
  const maxNewTokens = completionLength(records, { max_completion_length: job.maxCompletionLength }, task);
  const { policy, activationMb, dispose } = open(parts, longestPrompt(records) + maxNewTokens);
  const completions: string[][] = [];
  let terminated = 0;
  try {
    for (let first = 0; first < records.length; first += job.batchSize) {
      const batch = records.slice(first, first + job.batchSize);
      const made = generateWithin(
        policy,
        batch.map(({ promptIds }) => promptIds),
        activationMb,
        {
          numGenerations: job.samples,
          maxNewTokens,
          eosTokenIds: policy.model.config.eosTokenIds,
          temperature: job.temperature,
          topK: 0,
          topP: 1,
          minP: null,
          repetitionPenalty: 1,
          coordinates: [job.seed, SAMPLE_STREAM, first],
          onToken: alive,
        },
      );
      terminated += made.filter((completion) => completion.terminated).length;
      const texts = made.map(({ ids }) => tokenizer.decode(ids));
      completions.push(...batch.map((_, i) => texts.slice(i * job.samples, (i + 1) * job.samples)));
      await onDone(completions.length);
    }
    return {
      name: parts.name,
      completions,
      terminated: terminated / (records.length * job.samples),
      norms: policy.adapter === null ? null : adapterNorms(policy.adapter),
      seconds: (performance.now() - began) / 1000,
    };
  } finally {
    dispose();
  }
}

/**
 * Job: several models each sample n completions of the same prompts, with the same random numbers: a number depends
 * on seed, prompt, completion and position alone (random.ts), so models differ by what they say only.
 */
import { adapterNorms, type ModuleNorm } from '../model/adapter-norms.ts';
import { generate } from '../model/generate.ts';
import { loadTokenizer } from '../model/tokenizer.ts';
import { hashString } from '../random.ts';
import { taskByName } from '../tasks/index.ts';
import type { TaskRecord } from '../tasks/task.ts';
import type { BackendChoice } from './backend.ts';
import type { TrainConfig } from './config.ts';
import type { JobIo } from './job-io.ts';
import { endTokensOf, type ModelParts, openPolicy } from './open-policy.ts';
import { completionLength, encodeRecords, endToken, longestPrompt } from './prompts.ts';

export interface SampleJob extends BackendChoice {
  readonly kind: 'sample';
  readonly task: TrainConfig['task'];
  readonly models: readonly (ModelParts & { readonly name: string })[];
  readonly records: readonly TaskRecord[];
  /** Completions of each prompt. */
  readonly samples: number;
  readonly temperature: number;
  readonly seed: number;
  /** Prompts decoded together. */
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
  /** Of the adapter; null for a whole model. */
  readonly norms: readonly ModuleNorm[] | null;
  /** Loading included. */
  readonly seconds: number;
}

export interface SampleResult {
  readonly models: readonly SampledModel[];
}

const SAMPLE_STREAM = hashString('compare');

/** Samples from the models in their order; each is loaded, asked and let go. */
export async function runSampleJob(job: SampleJob, io: JobIo): Promise<SampleResult> {
  const models: SampledModel[] = [];
  const total = job.models.length * job.records.length;
  for (const model of job.models) {
    const before = models.length * job.records.length;
    models.push(await sampleModel(job, model, (done) => io.progress(before + done, total, 'prompts')));
  }
  return { models };
}

async function sampleModel(
  job: SampleJob,
  parts: SampleJob['models'][number],
  onDone: (done: number) => Promise<void>,
): Promise<SampledModel> {
  const began = performance.now();
  const tokenizer = loadTokenizer(parts.tokenizer);
  const records = encodeRecords(taskByName(job.task), tokenizer, job.records, endToken(tokenizer, endTokensOf(parts)));
  const maxNewTokens = completionLength(records, { max_completion_length: job.maxCompletionLength });
  const { policy, dispose } = openPolicy(parts, longestPrompt(records) + maxNewTokens);
  const completions: string[][] = [];
  let terminated = 0;
  try {
    for (let first = 0; first < records.length; first += job.batchSize) {
      const batch = records.slice(first, first + job.batchSize);
      const made = generate(
        policy.model,
        policy.adapter,
        batch.map(({ promptIds }) => promptIds),
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

/**
 * Job: a pre-flight check of a run. Samples the first generation for its rewards, completes some held-out prompts,
 * measures how long steps take, and runs a training pass on the longest prompt with the longest completion. Nothing is
 * stored.
 */
import * as tf from '@tensorflow/tfjs-core';
import { modelParameters } from '../../model/model.ts';
import { parameterCount } from '../../model/parameter.ts';
import type { BackendChoice } from '../backend.ts';
import { planBatches } from '../batching/batching.ts';
import { disposeBatch, uploadGroups } from '../batching/packed-batch.ts';
import { drawPrompts, startOfPrompts } from '../batching/prompt-stream.ts';
import { difficultiesOf } from '../batching/prompts.ts';
import { trainedGroupSize } from '../config.ts';
import type { Sample } from '../events.ts';
import type { RunEstimate, TrainerStart } from '../host/start.ts';
import { estimateRun } from '../memory/estimate.ts';
import { planRows, tokenCost } from '../memory/memory.ts';
import { withinMemory } from '../memory/within-memory.ts';
import { evaluate } from '../monitor/evaluate.ts';
import { highestReward } from '../monitor/watch-settings.ts';
import { completionLogps, lossAndGradients } from '../policy.ts';
import { sampleCompletions, samplesOf, scoreCompletions, withAdvantages } from '../rollout.ts';
import { openSession, type Session } from '../session.ts';
import type { JobIo } from './job-io.ts';

export interface PreflightJob extends Omit<TrainerStart, 'kind' | 'estimate'>, BackendChoice {
  readonly kind: 'preflight';
}

export interface PreflightResult {
  /** Every completion of the first generation; empty for a method that samples none. */
  readonly samples: readonly Sample[];
  /** The maximum reward; null if there is none. */
  readonly highestReward: number | null;
  readonly heldOut: { readonly mean: number; readonly n: number; readonly seconds: number } | null;
  readonly estimate: RunEstimate;
  readonly longest: LongestPass;
  /** Records whose texts quote control tokens of the model, and which ones they quote. */
  readonly quoting: { readonly records: number; readonly of: number; readonly tokens: readonly string[] };
  readonly maxCompletionLength: number;
  readonly parameters: number;
  readonly trainable: number;
}

/** A training pass on the longest prompt, with completions as long as they may get. */
export interface LongestPass {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Parts that a micro-batch is split into. */
  readonly parts: number;
  /** Peak memory of the process afterwards. */
  readonly peakBytes: number;
}

/** Held-out prompts to complete: enough for a rough score. */
const HELD_OUT = 16;
const PARTS = 4;

/** Tries everything that the run would do. */
export async function runPreflightJob(job: PreflightJob, io: JobIo): Promise<PreflightResult> {
  const session = openSession({ ...job, kind: 'start', estimate: null });
  try {
    await io.progress(0, PARTS, 'checks');
    const samples = session.config.method === 'sft' ? [] : sampleGroups(session);
    await io.progress(1, PARTS, 'checks');
    const heldOut = answerHeldOut(session);
    await io.progress(2, PARTS, 'checks');
    const tokens = samples.reduce((sum, { length }) => sum + length, 0);
    const estimate = estimateRun(session, 0, tokens === 0 ? {} : { completionTokens: tokens / samples.length });
    await io.progress(3, PARTS, 'checks');
    const longest = passLongest(session);
    await io.progress(PARTS, PARTS, 'checks');
    return {
      samples,
      highestReward: highestReward(session.task, session.config.reward_weights),
      heldOut,
      estimate,
      longest,
      quoting: quotingRecords(session),
      maxCompletionLength: session.maxCompletionLength,
      parameters: parameterCount(modelParameters(session.policy.model)),
      trainable: parameterCount(session.parameters),
    };
  } finally {
    session.dispose();
  }
}

function quotingRecords({ records, evalRecords }: Session): PreflightResult['quoting'] {
  const all = [...records, ...evalRecords];
  const quoting = all.flatMap(({ controlTokens = [] }) => (controlTokens.length > 0 ? [controlTokens] : []));
  const tokens = new Set(quoting.flat());
  return { records: quoting.length, of: all.length, tokens: [...tokens] };
}

/** The first generation, as the run itself would sample it. */
function sampleGroups({ config, records, policy, task, maxCompletionLength, decode }: Session): Sample[] {
  const plan = planBatches(config, records.length, difficultiesOf(task, records));
  const prompts = drawPrompts(plan, startOfPrompts, 0).records.flatMap((index) => records[index] ?? []);
  const completions = sampleCompletions(policy, prompts, 0, maxCompletionLength, config);
  const rollouts = scoreCompletions(task, prompts, completions, decode, config);
  return samplesOf(task, withAdvantages(task, 0, rollouts, config), config.num_generations);
}

function answerHeldOut({ config, evalRecords, policy, task, maxCompletionLength, decode }: Session) {
  const some = evalRecords.slice(0, Math.min(HELD_OUT, config.eval_records));
  if (some.length === 0) return null;
  const began = performance.now();
  const options = {
    maxNewTokens: maxCompletionLength,
    batchSize: config.per_device_train_batch_size,
    activationMb: config.activation_memory_mb,
  };
  const { metrics } = evaluate(task, policy, some, decode, options);
  const seconds = (performance.now() - began) / 1000;
  return { mean: metrics[`eval_${task.mainMetric}`] ?? Number.NaN, n: some.length, seconds };
}

/** One part of a micro-batch in which every row has the maximum length; smaller ones where memory runs out. */
function passLongest(session: Session): LongestPass {
  const { policy, config } = session;
  return withinMemory(policy.model, config.activation_memory_mb, (activation_memory_mb) =>
    passWithin({ ...session, config: { ...config, activation_memory_mb } }),
  );
}

function passWithin(session: Session): LongestPass {
  const { config, policy, parameters, records, maxCompletionLength } = session;
  const record = records.reduce((longest, next) => (next.promptIds.length > longest.promptIds.length ? next : longest));
  const completion = Array.from(
    { length: maxCompletionLength },
    (_, i) => record.targetIds[i % record.targetIds.length] ?? 0,
  );
  const groupSize = config.method === 'sft' ? 1 : trainedGroupSize(config);
  const rows = Array.from({ length: config.per_device_train_batch_size }, (_, row) => ({
    group: Math.floor(row / groupSize),
    prompt: record.promptIds.length,
    completion: completion.length - 1,
  }));
  const { parts, checkpointing } = planRows(rows, tokenCost(policy.model.config), config);
  const size = parts[0]?.end ?? 1;
  const groups = Array.from({ length: Math.ceil(size / groupSize) }, (_, g) => ({
    promptIds: record.promptIds,
    completions: Array.from({ length: Math.min(groupSize, size - g * groupSize) }, () => completion),
  }));
  const batch = uploadGroups(groups);
  try {
    tf.tidy(() => {
      const loss = () => tf.sum(completionLogps(policy, batch, config.temperature, { checkpointing }).logps);
      // Reading one number waits for all pending work.
      lossAndGradients(loss as () => tf.Scalar, parameters).grads[0]?.dataSync();
    });
  } finally {
    disposeBatch(batch);
  }
  return {
    promptTokens: record.promptIds.length,
    completionTokens: completion.length,
    parts: parts.length,
    peakBytes: process.resourceUsage().maxRSS * 1024,
  };
}

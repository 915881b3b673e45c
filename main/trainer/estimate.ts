/**
 * What a run will take, from a short calibration on the run's own prompts: a few decoding steps of the whole batch,
 * and the loss on some of its groups with the targets as completions. Nothing of the run is changed by it.
 */
import * as tf from '@tensorflow/tfjs-core';
import type { ModelConfig } from '../model/config.ts';
import { type PromptGroup, packedLength } from '../model/pack.ts';
import { parameterCount } from '../model/parameter.ts';
import { generationRecords, planBatches, recordAt } from './batching.ts';
import { isReinforcement } from './config.ts';
import { planPass, tokenCost } from './memory.ts';
import { disposeBatch, uploadGroups } from './packed-batch.ts';
import { completionLogps, lossAndGradients } from './policy.ts';
import type { TokenRecord } from './prompts.ts';
import { sampleCompletions } from './rollout.ts';
import type { Session } from './session.ts';

export interface RunEstimate {
  readonly secondsPerStep: number;
  /** Of all the steps that are left. */
  readonly seconds: number;
  /** Of the trainer process at its peak. */
  readonly memoryBytes: number;
}

/** Packed tokens that the loss is calibrated on: enough for steady kernels, few enough to be quick. */
const LOSS_TOKENS = 5000;
/** Decoding steps that are timed: at least so many, and this share of a completion, since later ones see more. */
const DECODE_STEPS = 8;
const DECODE_SHARE = 0.4;
/** What a process grows by beside the counted tensors: packed operands, chunks of logits, garbage (measured). */
const WORKING_BYTES = 170 * 2 ** 20;
/** Rounds at most until the time of a calibration no longer falls. */
const SETTLING_ROUNDS = 4;
/** A pass without gradients costs about this share of one with them. */
const FORWARD_SHARE = 1 / 3;

/** Estimates time and memory of the steps from `firstStep` on. */
export function estimateRun(session: Session, firstStep: number): RunEstimate {
  const resident = process.memoryUsage().rss;
  const { secondsPerStep, bytes } = isReinforcement(session.config.method)
    ? estimateGrpo(session)
    : estimateSft(session);
  const gradients = 4 * parameterCount(session.parameters);
  return {
    secondsPerStep,
    seconds: secondsPerStep * (session.config.max_steps - firstStep),
    memoryBytes: resident + gradients + bytes + WORKING_BYTES,
  };
}

function estimateGrpo(session: Session) {
  const { config, policy } = session;
  const plan = planBatches(config, session.records.length);
  const prompts = generationRecords(plan, 0).flatMap((index) => session.records[index] ?? []);
  const groups = prompts.map(
    ({ promptIds, targetIds }): PromptGroup => ({
      promptIds,
      completions: Array.from({ length: plan.groupSize }, () => targetIds),
    }),
  );
  const perToken = secondsPerLossToken(session, groups);
  const tokens = packedTokens(groups);
  const generationsPerStep = plan.microBatchesPerStep / plan.microBatchesPerGeneration;
  const extraForwards = (plan.needsOldLogps ? 1 : 0) + (session.reference === null ? 0 : 1);
  const perGeneration = secondsPerGeneration(session, prompts) + extraForwards * FORWARD_SHARE * perToken * tokens;
  const rowsPerStep = plan.microBatchesPerStep * plan.rowsPerMicroBatch;
  const rows = plan.groupsPerGeneration * plan.groupSize;
  const kv = rows * session.maxCompletionLength * kvBytes(policy.model.config);
  const pass = passOf(session, (tokens * plan.rowsPerMicroBatch) / rows);
  return {
    secondsPerStep: generationsPerStep * perGeneration + (rowsPerStep / rows) * perToken * pass.slower * tokens,
    bytes: Math.max(kv, pass.bytes),
  };
}

function estimateSft(session: Session) {
  const { config, records } = session;
  const rows = config.per_device_train_batch_size;
  const stream = { records: records.length, seed: config.seed, shuffle: config.shuffle_dataset };
  const groups = Array.from({ length: rows }, (_, i): PromptGroup => {
    const record = records[recordAt(stream, i)];
    return { promptIds: record?.promptIds ?? [], completions: [record?.targetIds ?? []] };
  });
  const tokens = packedTokens(groups);
  const perToken = secondsPerLossToken(session, groups);
  const pass = passOf(session, tokens);
  return {
    secondsPerStep:
      perToken * pass.slower * tokens * config.gradient_accumulation_steps + secondsForDiversity(session, perToken),
    bytes: pass.bytes,
  };
}

/** What polychromic SFT adds to a step: sampling, and the loss on what was sampled, as long as the targets. */
function secondsForDiversity(session: Session, perToken: number): number {
  const { config, records } = session;
  if (config.method !== 'polychromic-sft') return 0;
  const rows = config.per_device_train_batch_size * config.gradient_accumulation_steps;
  const prompts = Array.from(
    { length: Math.min(config.polychromic_prompts ?? rows, rows) },
    (_, i) => records[i % records.length],
  ).flatMap((record) => record ?? []);
  const groups = prompts.map(({ promptIds, targetIds }) => ({
    promptIds,
    completions: Array.from({ length: config.num_generations }, () => targetIds),
  }));
  return secondsPerGeneration(session, prompts) + perToken * packedTokens(groups);
}

/** Prefill and as many decoding steps as the targets have tokens on average: rows that have ended cost nothing. */
function secondsPerGeneration(session: Session, prompts: readonly TokenRecord[]): number {
  const length = prompts.reduce((sum, { targetIds }) => sum + targetIds.length, 0) / prompts.length;
  const wanted = Math.max(DECODE_STEPS, Math.round(DECODE_SHARE * length));
  const steps = Math.min(wanted, session.maxCompletionLength - 1);
  const short = settled(() => decodeSeconds(session, prompts, 1));
  const long = settled(() => decodeSeconds(session, prompts, 1 + steps));
  return short + Math.max(0, (long - short) / Math.max(steps, 1)) * (length - 1);
}

function decodeSeconds({ policy, config }: Session, prompts: readonly TokenRecord[], maxNewTokens: number): number {
  const began = performance.now();
  // Without an end token every row stays to the last step.
  sampleCompletions(policy, prompts, 0, maxNewTokens, config, { eosTokenIds: [] });
  return (performance.now() - began) / 1000;
}

/** Seconds a packed token of a forward and backward pass, on as many of the groups as make up LOSS_TOKENS. */
function secondsPerLossToken(session: Session, groups: readonly PromptGroup[]): number {
  const some: PromptGroup[] = [];
  for (const group of groups) {
    if (packedTokens(some) >= LOSS_TOKENS) break;
    some.push(group);
  }
  return settled(() => lossSeconds(session, some)) / packedTokens(some);
}

/** The time of work that is done several times: code gets faster as the engine optimises it, so the least counts. */
function settled(seconds: () => number): number {
  let least = seconds();
  for (let round = 0; round < SETTLING_ROUNDS; round++) {
    const next = seconds();
    const steady = next > 0.9 * least;
    least = Math.min(least, next);
    if (steady) break;
  }
  return least;
}

function lossSeconds({ policy, parameters, config }: Session, groups: readonly PromptGroup[]): number {
  const began = performance.now();
  const batch = uploadGroups(groups);
  tf.tidy(() => {
    const loss = () => tf.sum(completionLogps(policy, batch, config.temperature).logps) as tf.Scalar;
    // Reading one number waits for all of the work.
    lossAndGradients(loss, parameters).grads[0]?.dataSync();
  });
  disposeBatch(batch);
  return (performance.now() - began) / 1000;
}

function packedTokens(groups: readonly PromptGroup[]): number {
  return groups.reduce((sum, group) => sum + packedLength(group), 0);
}

/** What the activations of a micro-batch take, cut or checkpointed as it would be, and how much longer that takes. */
function passOf(
  { policy, config, records }: Session,
  tokens: number,
): { readonly bytes: number; readonly slower: number } {
  const cost = tokenCost(policy.model.config);
  const longest = records.reduce(
    (most, { promptIds, targetIds }) => Math.max(most, promptIds.length + targetIds.length),
    0,
  );
  const plan = planPass(tokens, longest, cost, config.activation_memory_mb * 2 ** 20, config.gradient_checkpointing);
  const inParts = isReinforcement(config.method) && plan.maxTokens < tokens;
  const moreForwards = (plan.checkpointing ? 1 : 0) + (inParts ? 1 : 0);
  return {
    bytes: plan.maxTokens * (plan.checkpointing ? cost.checkpointed : cost.plain),
    slower: 1 + FORWARD_SHARE * moreForwards,
  };
}

/** Keys and values of one token in all layers. */
function kvBytes({ numLayers, numKvHeads, headDim }: ModelConfig): number {
  return 2 * 4 * numLayers * numKvHeads * headDim;
}

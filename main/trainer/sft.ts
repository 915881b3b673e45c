/**
 * Supervised fine-tuning on completions: loss = -sum of log p(target token) / number of target tokens, over all
 * micro-batches of a step (as transformers normalises by num_items_in_batch). Prompt tokens carry no loss.
 * Polychromic SFT adds a term for the diversity of the policy's own samples (diversity-term.ts).
 */
import * as tf from '@tensorflow/tfjs-core';
import type { PromptGroup } from '../model/pack.ts';
import type { Parameter } from '../model/parameter.ts';
import { recordAt } from './batching/batching.ts';
import { type DeviceBatch, disposeBatch, uploadGroups } from './batching/packed-batch.ts';
import type { TokenRecord } from './batching/prompts.ts';
import type { RunConfig } from './config.ts';
import type { Metrics } from './events.ts';
import type { RunIo } from './host/run-io.ts';
import { diversityTerm, type LossTerm } from './losses/diversity-term.ts';
import { planRows, tokenCost } from './memory/memory.ts';
import { withinMemory } from './memory/within-memory.ts';
import type { AdamW } from './optimizer.ts';
import { accumulateGradients, type Gradients } from './optimizer.ts';
import { completionLogps, lossAndGradients, type Policy } from './policy.ts';
import { learningRate } from './schedule.ts';
import type { Session } from './session.ts';

/** Trains for the configured number of steps; `io` reports, saves and receives commands. */
export function trainSft(session: Session, io: RunIo): Promise<void> {
  return trainSupervised(session, io, null);
}

/** Polychromic SFT: L_quality − lambda · D of the policy's own samples for `polychromic_prompts` of the prompts. */
export function trainPolychromicSft(session: Session, io: RunIo): Promise<void> {
  return trainSupervised(session, io, (prompts, step) =>
    diversityTerm(session, prompts.slice(0, session.config.polychromic_prompts ?? prompts.length), step, io),
  );
}

/** `term` adds to the loss of a step on its records; null: none. */
async function trainSupervised(
  session: Session,
  io: RunIo,
  term: ((records: readonly TokenRecord[], step: number) => LossTerm) | null,
): Promise<void> {
  const { config, policy, parameters, optimizer } = session;
  const cost = tokenCost(policy.model.config);
  io.begin();
  for (let step = io.firstStep; step < config.max_steps; step++) {
    if ((await io.control.checkIn(step)) === 'stop') return io.finish(step, true);
    const rate = learningRate(config, step);
    const records = sftRecords(session, step);
    const micro = records.map((batch) => batch.map(asGroup));
    const more = term === null ? null : () => term(records.flat(), step);
    const metrics = io.phases.time('step', () =>
      withinMemory(policy.model, config.activation_memory_mb, (activation_memory_mb) => {
        const parts = micro.flatMap((groups) => inParts(groups, { ...config, activation_memory_mb }));
        return sftStep(policy, parameters, optimizer, parts, rate, more);
      }),
    );
    io.addTokens(micro.flat().reduce((sum, group) => sum + tokensOf(group), 0));
    const perEpoch = session.records.length / (config.per_device_train_batch_size * config.gradient_accumulation_steps);
    await io.endStep(step + 1, { ...metrics, learning_rate: rate, epoch: (step + 1) / perEpoch });
  }
  return io.finish(config.max_steps, false);

  /** A micro-batch in parts that fit: the loss is a sum over tokens, so splitting doesn't change it. */
  function inParts(groups: readonly PromptGroup[], within: RunConfig): SftBatch[] {
    const rows = groups.map(({ promptIds, completions }, group) => ({
      group,
      prompt: promptIds.length,
      completion: (completions[0]?.length ?? 1) - 1,
    }));
    const { parts, checkpointing } = planRows(rows, cost, within);
    return parts.map(({ first, end }) => ({ groups: groups.slice(first, end), checkpointing }));
  }
}

/** The rows of one pass. */
export interface SftBatch {
  readonly groups: readonly PromptGroup[];
  readonly checkpointing: boolean;
}

/** One optimiser step on the given micro-batches of groups, plus `more`: loss, grad_norm, mean entropy. */
export function sftStep(
  policy: Policy,
  parameters: readonly Parameter[],
  optimizer: AdamW,
  microBatches: readonly SftBatch[],
  rate: number,
  more: (() => LossTerm) | null = null,
): Metrics {
  const packed: { readonly batch: DeviceBatch; readonly checkpointing: boolean }[] = [];
  let gradients: Gradients | null = null;
  let loss = 0;
  let entropy = 0;
  try {
    for (const { groups, checkpointing } of microBatches) packed.push({ batch: uploadGroups(groups), checkpointing });
    const tokens = packed.reduce((sum, { batch }) => sum + batch.tokens, 0);
    for (const { batch, checkpointing } of packed) {
      const result = sftLoss(policy, parameters, batch, tokens, checkpointing);
      loss += result.loss;
      entropy += result.entropy / tokens;
      gradients = accumulateGradients(gradients, result.gradients);
    }
    const term = more?.();
    if (term !== undefined) gradients = accumulateGradients(gradients, term.gradients);
    const { gradNorm } = optimizer.update(gradients ?? {}, rate);
    const parts = term === undefined ? {} : { ...term.metrics, 'polychromic/quality_loss': loss };
    return { loss: loss + (term?.loss ?? 0), grad_norm: gradNorm, entropy, ...parts };
  } finally {
    for (const { batch } of packed) disposeBatch(batch);
    tf.dispose(gradients ?? {});
  }
}

function sftLoss(
  policy: Policy,
  parameters: readonly Parameter[],
  batch: DeviceBatch,
  tokens: number,
  checkpointing: boolean,
) {
  return tf.tidy(() => {
    let entropy = 0;
    const { value, grads } = lossAndGradients(() => {
      const { logps, entropies } = completionLogps(policy, batch, 1, { checkpointing });
      entropy = tf.sum(entropies).dataSync<'float32'>()[0] ?? Number.NaN;
      return tf.div(tf.neg(tf.sum(logps)), tokens) as tf.Scalar;
    }, parameters);
    const loss = value.dataSync<'float32'>()[0] ?? Number.NaN;
    const gradients = Object.fromEntries(parameters.map(({ name }, i) => [name, tf.keep(grads[i] as tf.Tensor)]));
    return { loss, entropy, gradients };
  });
}

/** The records of each micro-batch of one step, from the seeded stream of epochs. */
function sftRecords(session: Session, step: number): TokenRecord[][] {
  const { config, records } = session;
  const size = config.per_device_train_batch_size;
  const first = step * config.gradient_accumulation_steps;
  const stream = { records: records.length, seed: config.seed, shuffle: config.shuffle_dataset };
  return Array.from({ length: config.gradient_accumulation_steps }, (_, m) =>
    Array.from({ length: size }, (_, i) => records[recordAt(stream, (first + m) * size + i)]).flatMap(
      (record) => record ?? [],
    ),
  );
}

function asGroup({ promptIds, targetIds }: TokenRecord): PromptGroup {
  return { promptIds, completions: [targetIds] };
}

function tokensOf({ promptIds, completions }: PromptGroup): number {
  return promptIds.length + completions.reduce((sum, ids) => sum + ids.length, 0);
}

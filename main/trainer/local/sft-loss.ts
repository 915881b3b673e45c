/** The supervised loss, -sum of log p(target token) / number of target tokens, and its gradient. */
import * as tf from '@tensorflow/tfjs-core';
import type { PromptGroup } from '../../model/pack.ts';
import type { Parameter } from '../../model/parameter.ts';
import { type DeviceBatch, disposeBatch, uploadGroups } from '../batching/packed-batch.ts';
import { accumulateGradients, type Gradients } from '../optim/optimizer.ts';
import { completionLogps, lossAndGradients, type Policy } from '../policy/policy.ts';

/** The rows of one pass. */
export interface SftBatch {
  readonly groups: readonly PromptGroup[];
  readonly checkpointing: boolean;
}

export interface SftLoss {
  readonly loss: number;
  /** Mean of a target token. */
  readonly entropy: number;
  /** By parameter; the caller disposes of them. */
  readonly gradients: Gradients;
}

/** Loss, mean entropy and gradients over all the given batches. */
export function sftLoss(policy: Policy, parameters: readonly Parameter[], batches: readonly SftBatch[]): SftLoss {
  const packed: { readonly batch: DeviceBatch; readonly checkpointing: boolean }[] = [];
  let gradients: Gradients | null = null;
  let loss = 0;
  let entropy = 0;
  try {
    for (const { groups, checkpointing } of batches) packed.push({ batch: uploadGroups(groups), checkpointing });
    const tokens = packed.reduce((sum, { batch }) => sum + batch.tokens, 0);
    for (const { batch, checkpointing } of packed) {
      const result = lossOfBatch(policy, parameters, batch, tokens, checkpointing);
      loss += result.loss;
      entropy += result.entropy / tokens;
      gradients = accumulateGradients(gradients, result.gradients);
    }
    return { loss, entropy, gradients: gradients ?? {} };
  } catch (error) {
    tf.dispose(gradients ?? {});
    throw error;
  } finally {
    for (const { batch } of packed) disposeBatch(batch);
  }
}

function lossOfBatch(
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

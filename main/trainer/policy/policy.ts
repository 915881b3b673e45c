/** The trainer's view of a model: log-probabilities of given completions, and gradients of a loss on them. */
import * as tf from '@tensorflow/tfjs-core';
import { type ForwardOptions, forward } from '../../model/decoder.ts';
import { logProbabilities } from '../../model/head.ts';
import type { Adapter } from '../../model/lora.ts';
import type { Model } from '../../model/model.ts';
import type { Parameter } from '../../model/parameter.ts';
import { packedSequences } from '../../model/sequences.ts';
import { gradients } from '../../tensor/backward.ts';
import { gatherRows } from '../../tensor/ops/rows.ts';
import type { DeviceBatch } from '../batching/packed-batch.ts';

/** A model with its adapter; null: its own weights. */
export interface Policy {
  readonly model: Model;
  readonly adapter: Adapter | null;
}

export type CompletionLogps = {
  /** Log-probability of each completion token, padded with 0. [B, T] */
  readonly logps: tf.Tensor2D;
  /** Entropy of the distribution that each token was drawn from, padded with 0. [B, T] */
  readonly entropies: tf.Tensor2D;
};

export interface PassOptions extends ForwardOptions {
  /** Bytes of logits that may be kept for the gradient. */
  readonly keptBytes?: number;
}

/** Log-probabilities and entropies of a packed batch's completions, in nats of logits / temperature. */
export function completionLogps(
  { model, adapter }: Policy,
  batch: DeviceBatch,
  temperature: number,
  options: PassOptions = {},
): CompletionLogps {
  const hidden = forward(model, batch, adapter, packedSequences(model.config, batch.segments), options); // [N, D]
  const predicting = gatherRows(hidden, batch.predictors); // [M, D]
  const flat = logProbabilities(model, predicting, batch.targets, {
    temperature,
    trainWeight: adapter === null,
    keptBytes: options.keptBytes ?? 0,
  });
  const padded = (values: tf.Tensor1D): tf.Tensor2D =>
    tf.reshape(gatherRows(tf.reshape(values, [batch.tokens, 1]), batch.places), [batch.rows, batch.columns]);
  return { logps: padded(flat.logps), entropies: padded(flat.entropies) };
}

/** `completionLogps` without gradients, on the host: for a frozen reference or old log-probabilities. [B*T] each */
export function hostLogps(
  policy: Policy,
  batch: DeviceBatch,
  temperature: number,
): { readonly logps: Float32Array; readonly entropies: Float32Array } {
  const matrices = tf.tidy(() => completionLogps(policy, batch, temperature));
  try {
    const host = (matrix: tf.Tensor): Float32Array => matrix.dataSync<'float32'>().slice();
    return { logps: host(matrices.logps), entropies: host(matrices.entropies) };
  } finally {
    tf.dispose([matrices.logps, matrices.entropies]);
  }
}

/** The loss and its gradient with respect to each parameter, in order. The caller disposes of all. */
export function lossAndGradients(
  loss: () => tf.Scalar,
  parameters: readonly Parameter[],
): { readonly value: tf.Scalar; readonly grads: readonly tf.Tensor[] } {
  const { value, grads } = gradients(
    loss,
    parameters.map((parameter) => parameter.value),
  );
  return { value: value as tf.Scalar, grads: grads as readonly tf.Tensor[] };
}

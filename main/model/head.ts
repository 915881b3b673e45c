/** What the head makes of hidden states: logits, or log-probabilities of given tokens. N tokens, D width, V vocabulary. */
import * as tf from '@tensorflow/tfjs-core';
import { checkpointedParts } from '../tensor/gradient-checkpoint.ts';
import { capped, cappedSpread } from '../tensor/ops/capped-logits.ts';
import { type LogSoftmaxOptions, selectiveLogSoftmax } from '../tensor/ops/log-softmax.ts';
import { gatherRows } from '../tensor/ops/rows.ts';
import { weightProduct } from '../tensor/ops/weight-product.ts';
import type { Model } from './model.ts';

type Headed = Pick<Model, 'head' | 'config'>;

/** hidden [N, D] → [N, V] */
export function logitsOf({ head, config }: Headed, hidden: tf.Tensor2D): tf.Tensor2D {
  const { logitsCap: cap } = config;
  if (cap === null) return weightProduct(hidden, head.value);
  return tf.tidy(() => capped(weightProduct(hidden, head.value), cap));
}

/** Logits of a part where they are capped, which no kernel knows: 32 MiB of float32, a few times. */
const LOGITS = 2 ** 23;

/** Tokens of such a part. */
export function cappedTokens(vocabSize: number): number {
  return Math.max(1, Math.floor(LOGITS / vocabSize));
}

/** As `selectiveLogSoftmax`, of logits as the model caps them. hidden [N, D], targets int32 [N] → [N] each */
export function logProbabilities(
  { head, config }: Headed,
  hidden: tf.Tensor2D,
  targets: tf.Tensor1D,
  options: LogSoftmaxOptions,
): { readonly logps: tf.Tensor1D; readonly entropies: tf.Tensor1D } {
  const { logitsCap: cap, vocabSize } = config;
  if (cap === null) return selectiveLogSoftmax(hidden, head.value, targets, options);
  const { temperature, trainWeight } = options;
  const [n] = hidden.shape;
  const rows = cappedTokens(vocabSize);
  const parts = Array.from({ length: Math.ceil(n / rows) }, (_, i) => {
    const [first, count] = [i * rows, Math.min(rows, n - i * rows)];
    const run = ([states, weight = head.value]: readonly tf.Tensor2D[]): tf.Tensor2D => {
      const some = tf.slice(states as tf.Tensor2D, [first, 0], [count, -1]);
      const spread = cappedSpread(weightProduct(some, weight), cap, temperature);
      const [sums, entropies] = tf.split(spread, 2, 1) as [tf.Tensor2D, tf.Tensor2D];
      const rowsOfTargets = gatherRows(weight, tf.slice(targets, first, count));
      const chosen = tf.div(capped(tf.sum(tf.mul(some, rowsOfTargets), 1, true), cap), temperature); // [n, 1]
      return tf.concat([tf.sub(chosen, sums), entropies], 1) as tf.Tensor2D;
    };
    return { rows: count, run };
  });
  const both = checkpointedParts(parts, trainWeight ? [hidden, head.value] : [hidden]); // [N, 2]
  const [logps, entropies] = tf.unstack(both, 1) as [tf.Tensor1D, tf.Tensor1D];
  return { logps, entropies };
}

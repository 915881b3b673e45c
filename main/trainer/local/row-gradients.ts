/** The gradient of sum of dlogp * log p(completion) over rows, in parts that fit. R rows. */
import * as tf from '@tensorflow/tfjs-core';
import type { Generation } from '../batching/generation.ts';
import { allRows, groupsOfRows } from '../batching/rows.ts';
import { accumulateGradients, type Gradients } from '../optim/optimizer.ts';
import { completionLogps, lossAndGradients } from '../policy/policy.ts';
import { keepByName, partsOf, withBatch } from './micro-batch-loss.ts';
import type { Session } from './session.ts';

/** By parameter; the caller disposes of them. `dlogp` [R]: the factor of each of a row's tokens. */
export function rowGradients(
  { policy, parameters, config }: Pick<Session, 'policy' | 'parameters' | 'config'>,
  rows: Pick<Generation, 'prompts' | 'completions'>,
  groupSize: number,
  dlogp: readonly number[],
): Gradients {
  const { parts, ...pass } = partsOf(policy, rows, allRows(rows), groupSize, config);
  let gradients: Gradients | null = null;
  try {
    for (const part of parts) {
      const more = withBatch(groupsOfRows(rows, part, groupSize), undefined, (batch) =>
        tf.tidy(() => {
          const factors = part.map((row) => dlogp[row] ?? Number.NaN);
          const byRow = tf.tensor2d(factors, [part.length, 1]);
          const loss = (): tf.Scalar =>
            tf.sum(tf.mul(completionLogps(policy, batch, config.temperature, pass).logps, byRow));
          return keepByName(parameters, lossAndGradients(loss, parameters).grads);
        }),
      );
      gradients = accumulateGradients(gradients, more);
    }
    return gradients ?? {};
  } catch (error) {
    tf.dispose(gradients ?? {});
    throw error;
  }
}

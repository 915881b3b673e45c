/** The policy loss as one differentiable op on the gradient tape. */
import * as tf from '@tensorflow/tfjs-core';
import { BraidError } from '../../errors.ts';
import type { TokenSum } from './adaptive-entropy.ts';
import { type LossConfig, type LossMetrics, type LossNormaliser, type PolicyLoss, policyLoss } from './losses.ts';

/** A constant [B,T] (or [B]): a tensor, or its values row after row. */
export type Constant = tf.Tensor | ArrayLike<number>;

/** One micro-batch. Only `logps` and, with an entropy bonus, `entropies` are differentiated. */
export interface LossInputs {
  /** [B,T] */
  readonly logps: tf.Tensor2D;
  /** [B,T]; null: stop-gradient of `logps`. */
  readonly oldLogps: Constant | null;
  /** [B,T]; needed when beta ≠ 0. */
  readonly refLogps: Constant | null;
  /** [B] */
  readonly advantages: Constant;
  /** [B,T] */
  readonly mask: Constant;
  /** [B,T] */
  readonly entropies: tf.Tensor2D;
}

export interface GrpoLoss {
  readonly loss: tf.Scalar;
  readonly metrics: LossMetrics;
  readonly entropy: TokenSum;
}

/**
 * `policyLoss` on tensors: a scalar that `tf.variableGrads`/`tf.grads` can differentiate, and the metrics.
 * Reads `logps` and `entropies` synchronously (the wasm, cpu and TensorFlow backends can).
 */
export function grpoLoss(inputs: LossInputs, normaliser: LossNormaliser, config: LossConfig): GrpoLoss {
  const { logps, entropies } = inputs;
  const [rows, columns] = logps.shape;
  if (entropies.shape[0] !== rows || entropies.shape[1] !== columns)
    throw new BraidError(
      'BAD_SHAPE',
      `Expected entropies [${rows}, ${columns}] like logps, got [${entropies.shape.join(', ')}]`,
    );
  const compute = (logpValues: ArrayLike<number>, entropyValues: ArrayLike<number>): PolicyLoss =>
    policyLoss(
      {
        rows,
        columns,
        logps: logpValues,
        oldLogps: inputs.oldLogps === null ? null : hostValues(inputs.oldLogps),
        refLogps: inputs.refLogps === null ? null : hostValues(inputs.refLogps),
        advantages: hostValues(inputs.advantages),
        mask: hostValues(inputs.mask),
        entropies: entropyValues,
      },
      normaliser,
      config,
    );

  let metrics: LossMetrics = {};
  let entropy: TokenSum = { sum: 0, tokens: 0 };
  // Without a bonus the entropies stay off the tape, so no gradient through the vocabulary is computed.
  const differentiated = config.entropy_coef === 0 ? [logps] : [logps, entropies];
  const op = tf.customGrad(() => {
    const result = compute(hostValues(logps), hostValues(entropies));
    ({ metrics, entropy } = result);
    const gradFunc = (dy: tf.Tensor): tf.Tensor[] =>
      [result.gradLogps, result.gradEntropies]
        .filter((values) => values !== null)
        .map((values) => tf.mul(tf.tensor2d(values, [rows, columns]), dy));
    return { value: tf.scalar(result.loss), gradFunc };
  });
  const loss = op(...differentiated) as tf.Scalar;
  return { loss, metrics, entropy };
}

function hostValues(values: Constant): ArrayLike<number> {
  return values instanceof tf.Tensor ? values.dataSync() : values;
}

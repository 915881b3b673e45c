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
  /** A row in messages. */
  readonly nameOf?: (row: number) => string;
  /** Further rows [S,T] that are not differentiated; the constants have theirs after the B ones. */
  readonly rest?: HostMatrices;
}

/** Row after row. */
export interface HostMatrices {
  readonly logps: Float32Array;
  readonly entropies: Float32Array;
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
  const advantages = hostValues(inputs.advantages);
  const compute = (logpValues: ArrayLike<number>, entropyValues: ArrayLike<number>): PolicyLoss =>
    policyLoss(
      {
        rows: advantages.length,
        columns,
        logps: logpValues,
        oldLogps: inputs.oldLogps === null ? null : hostValues(inputs.oldLogps),
        refLogps: inputs.refLogps === null ? null : hostValues(inputs.refLogps),
        advantages,
        mask: hostValues(inputs.mask),
        entropies: entropyValues,
        ...(inputs.nameOf && { nameOf: inputs.nameOf }),
      },
      normaliser,
      config,
    );

  let metrics: LossMetrics = {};
  let entropy: TokenSum = { sum: 0, tokens: 0 };
  // Without a bonus the entropies stay off the tape, so no gradient through the vocabulary is computed.
  const differentiated = config.entropy_coef === 0 ? [logps] : [logps, entropies];
  const op = tf.customGrad(() => {
    const { rest } = inputs;
    const result = compute(withRest(hostValues(logps), rest?.logps), withRest(hostValues(entropies), rest?.entropies));
    ({ metrics, entropy } = result);
    const gradFunc = (dy: tf.Tensor): tf.Tensor[] =>
      [result.gradLogps, result.gradEntropies]
        .filter((values) => values !== null)
        .map((values) => tf.mul(tf.tensor2d(values.subarray(0, rows * columns), [rows, columns]), dy));
    return { value: tf.scalar(result.loss), gradFunc };
  });
  const loss = op(...differentiated) as tf.Scalar;
  return { loss, metrics, entropy };
}

function withRest(values: ArrayLike<number>, rest?: Float32Array): ArrayLike<number> {
  return rest === undefined || rest.length === 0 ? values : joined([values, rest]);
}

/** One matrix below the other. */
export function joined(matrices: readonly ArrayLike<number>[]): Float32Array {
  const out = new Float32Array(matrices.reduce((sum, { length }) => sum + length, 0));
  matrices.reduce((at, matrix) => {
    out.set(matrix, at);
    return at + matrix.length;
  }, 0);
  return out;
}

function hostValues(values: Constant): ArrayLike<number> {
  return values instanceof tf.Tensor ? values.dataSync() : values;
}

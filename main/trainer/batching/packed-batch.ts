/**
 * A micro-batch on the device: the decoder's packed tokens, and the mapping back to a padded [B, T] matrix.
 * B completions (rows), T longest completion (columns), N packed tokens, M completion tokens.
 */
import * as tf from '@tensorflow/tfjs-core';
import { type PromptGroup, packGroups, predictedLengths } from '../../model/pack.ts';

/** Tensors of a packed micro-batch; `disposeBatch` frees them. */
export interface DeviceBatch {
  readonly rows: number;
  readonly columns: number;
  /** M */
  readonly tokens: number;
  readonly ids: tf.Tensor1D; // int32 [N]
  readonly positions: tf.Tensor1D; // int32 [N]
  readonly segments: tf.Tensor2D; // int32 [S, 4], see packedAttention
  /** Which packed token predicts each completion token. */
  readonly predictors: tf.Tensor1D; // int32 [M]
  readonly targets: tf.Tensor1D; // int32 [M]
  /** Index among the M tokens of each cell of the padded matrix, -1 for padding. */
  readonly places: tf.Tensor1D; // int32 [B*T]
}

/** Packs groups and puts them on the device; `columns` widens the padded matrix beyond their longest completion. */
export function uploadGroups(groups: readonly PromptGroup[], columns?: number): DeviceBatch {
  const packed = packGroups(groups);
  const lengths = groups.flatMap(predictedLengths);
  const width = columns ?? lengths.reduce((most, length) => Math.max(most, length), 0);
  const int32 = (values: Int32Array): tf.Tensor1D => tf.tensor1d(values, 'int32');
  return {
    rows: lengths.length,
    columns: width,
    tokens: packed.targets.length,
    ids: int32(packed.ids),
    positions: int32(packed.positions),
    segments: tf.tensor2d(packed.segments, [packed.segments.length / 4, 4], 'int32'),
    predictors: int32(packed.predictors),
    targets: int32(packed.targets),
    places: int32(places(lengths, width)),
  };
}

function places(lengths: readonly number[], columns: number): Int32Array {
  const out = new Int32Array(lengths.length * columns).fill(-1);
  let next = 0;
  lengths.forEach((length, row) => {
    for (let t = 0; t < length; t++) out[row * columns + t] = next++;
  });
  return out;
}

export function disposeBatch(batch: DeviceBatch): void {
  tf.dispose([batch.ids, batch.positions, batch.segments, batch.predictors, batch.targets, batch.places]);
}

/** Weights that are no longer finite, found when a checkpoint is due. */
import type * as tf from '@tensorflow/tfjs-core';
import type { Parameter } from '../../model/parameter.ts';
import { diverged } from '../losses/not-finite.ts';
import { globalNorm } from '../optim/optimizer.ts';

/** Throws if a weight isn't finite. One sum over the weights; only where that isn't finite, each of them is read. */
export function checkWeights(parameters: readonly Parameter[]): void {
  if (Number.isFinite(globalNorm(parameters.map(({ value }) => value)))) return;
  const found = parameters.find(({ value }) => !Number.isFinite(globalNorm([value])));
  if (found === undefined) return;
  const number = strange(found.value);
  throw diverged(`The weights are no longer finite: "${found.name}" has ${number}, so no checkpoint was written`);
}

function strange(value: tf.Tensor): string {
  const values = value.dataSync<'float32'>();
  const bad = values.find((number) => !Number.isFinite(number));
  if (bad === undefined) return 'numbers that overflow when squared';
  return Number.isNaN(bad) ? 'NaN' : 'an infinity';
}

import * as tf from '@tensorflow/tfjs-core';
import { input, registerPortable, runOp, savedTensor } from '../portable.ts';

// B rows, V vocabulary.

registerPortable<{ temperature: number }>('SampleRows', (inputs, { temperature }) => {
  const [rows, vocabulary] = input<tf.Tensor2D>(inputs, 'logits').shape;
  const logits = input(inputs, 'logits').dataSync<'float32'>();
  const uniforms = input(inputs, 'uniforms').dataSync<'float32'>();
  const ids = new Int32Array(rows);
  const logps = new Float32Array(rows);
  for (let b = 0; b < rows; b++) {
    const row = logits.subarray(b * vocabulary, (b + 1) * vocabulary);
    const { id, logp } = sampleRow(row, uniforms[b] as number, temperature);
    ids[b] = id;
    logps[b] = logp;
  }
  return [tf.tensor1d(ids, 'int32'), tf.tensor1d(logps)];
});

function sampleRow(row: Float32Array, u: number, temperature: number): { id: number; logp: number } {
  let best = 0;
  for (let id = 1; id < row.length; id++) if ((row[id] as number) > (row[best] as number)) best = id;
  const top = row[best] as number;
  const t = temperature === 0 ? 1 : temperature;
  let sum = 0;
  for (const x of row) sum += Math.exp((x - top) / t);
  let id = best;
  if (temperature !== 0) {
    let left = u * sum;
    for (let i = 0; i < row.length; i++) {
      const p = Math.exp(((row[i] as number) - top) / t);
      if (p > 0) id = i;
      left -= p;
      if (left < 0) break;
    }
  }
  return { id, logp: ((row[id] as number) - top) / t - Math.log(sum) };
}

/**
 * Draws one token a row from softmax(logits / temperature) by inverting its cumulative sum at the row's uniform in
 * [0, 1); temperature 0 takes the first maximum. logits [B, V], uniforms [B] → ids int32 [B].
 */
export function sampleRows(logits: tf.Tensor2D, uniforms: tf.Tensor1D, temperature: number): tf.Tensor1D {
  return savedTensor<tf.Tensor1D>(runOp<tf.Tensor[]>('SampleRows', { logits, uniforms }, { temperature }), 0);
}

/** Filters of a distribution, as model/sampler.ts applies them; 0, 1 and 0 are none. */
export interface FilterAttrs {
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
}

/** Whether the current backend filters and draws itself, so that logits needn't be read. */
export function hasFilteredSampling(): boolean {
  return tf.getKernel('SampleFiltered', tf.getBackend()) != null;
}

/**
 * Draws one token a row from the filtered softmax, by inverting its cumulative sum at the row's uniform. Only where
 * `hasFilteredSampling`. logits [B, V], uniforms [B] → ids int32 [B].
 */
export function sampleFiltered(logits: tf.Tensor2D, uniforms: tf.Tensor1D, filters: FilterAttrs): tf.Tensor1D {
  return runOp<tf.Tensor1D>('SampleFiltered', { logits, uniforms }, filters);
}

/**
 * Divides positive logits by the penalty and multiplies others, **in place**, at places of logits [B, V] that `seen`
 * lists once each. Only where `hasFilteredSampling`.
 */
export function penaliseInPlace(logits: tf.Tensor2D, seen: tf.Tensor1D, penalty: number): void {
  tf.tidy(() => void runOp('RepetitionPenalty', { logits, seen }, { penalty }));
}

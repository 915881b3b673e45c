/** The next token of rows that are decoded together. */
import * as tf from '@tensorflow/tfjs-core';
import { hash32, uniform } from '../random.ts';
import { hasFilteredSampling, penaliseInPlace, sampleFiltered, sampleRows } from '../tensor/ops/sample.ts';
import { argmax, draw, isPlain, processors, type SamplingOptions } from './sampler.ts';

export interface ChooseOptions extends SamplingOptions {
  /** Coordinates of the random numbers, to which a row adds its own. */
  readonly coordinates: readonly number[];
}

/** A row whose next token is chosen. */
export interface ChosenRow {
  /** Its prompt, and its index among that prompt's completions. */
  readonly prompt: number;
  readonly generation: number;
  readonly promptIds: readonly number[];
  /** So far. */
  readonly ids: readonly number[];
}

/** A row's random number depends on its prompt, completion and position alone. `logits`: [B, V] */
export function chooseNext(logits: tf.Tensor2D, rows: readonly ChosenRow[], options: ChooseOptions): Int32Array {
  const base = hash32(...options.coordinates);
  const uniforms = rows.map(({ prompt, generation, ids }) => uniform(base, prompt, generation, ids.length));
  if (isPlain(options)) {
    return tf.tidy(
      () => sampleRows(logits, tf.tensor1d(uniforms), options.temperature).dataSync<'int32'>() as Int32Array,
    );
  }
  const vocabulary = logits.shape[1];
  const seenBy = ({ promptIds, ids }: ChosenRow): number[] => [...promptIds, ...ids];
  if (hasFilteredSampling()) {
    const seen = options.repetitionPenalty === 1 ? [] : rows.map((row) => new Set(seenBy(row)));
    return chooseThere(logits, uniforms, seen, options);
  }
  const values = logits.dataSync<'float32'>();
  const steps = processors(options);
  return Int32Array.from(rows, (row, i) => {
    const rowLogits = values.slice(i * vocabulary, (i + 1) * vocabulary);
    for (const step of steps) step(rowLogits, seenBy(row));
    return options.temperature === 0 ? argmax(rowLogits) : draw(rowLogits, uniforms[i] as number);
  });
}

/** The same on a backend that filters itself. `seen`: of each row the tokens so far, if they are penalised. */
function chooseThere(
  logits: tf.Tensor2D,
  uniforms: readonly number[],
  seen: readonly ReadonlySet<number>[],
  { temperature, topK, topP, minP, repetitionPenalty }: SamplingOptions,
): Int32Array {
  const vocabulary = logits.shape[1];
  return tf.tidy(() => {
    const places = seen.flatMap((ids, row) => [...ids].map((id) => row * vocabulary + id));
    if (places.length > 0) penaliseInPlace(logits, tf.tensor1d(places, 'int32'), repetitionPenalty);
    const numbers = tf.tensor1d([...uniforms]);
    const ids =
      temperature === 0
        ? sampleRows(logits, numbers, 0)
        : sampleFiltered(logits, numbers, { temperature, topK, topP, minP: minP ?? 0 });
    return ids.dataSync<'int32'>() as Int32Array;
  });
}

/** The next token of rows that are decoded together. */
import * as tf from '@tensorflow/tfjs-core';
import { hash32, uniform } from '../random.ts';
import { startRead } from '../tensor/ops/pending-read.ts';
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

/** A token of each row that was chosen. */
export interface Choice {
  /** Where a step can read them before their numbers are here, int32 [B]; null: they are here. */
  readonly ids: tf.Tensor1D | null;
  /** Waits for the numbers, once. */
  numbers(): Int32Array;
  dispose(): void;
}

/** A row's random number depends on its prompt, completion and position alone. `logits`: [B, V] */
export function choose(logits: tf.Tensor2D, rows: readonly ChosenRow[], options: ChooseOptions): Choice {
  const base = hash32(...options.coordinates);
  const uniforms = rows.map(({ prompt, generation, ids }) => uniform(base, prompt, generation, ids.length));
  if (isPlain(options)) return choiceOf(tf.tidy(() => sampleRows(logits, tf.tensor1d(uniforms), options.temperature)));
  const vocabulary = logits.shape[1];
  const seenBy = ({ promptIds, ids }: ChosenRow): number[] => [...promptIds, ...ids];
  if (hasFilteredSampling()) {
    const seen = options.repetitionPenalty === 1 ? [] : rows.map((row) => new Set(seenBy(row)));
    return choiceOf(chooseThere(logits, uniforms, seen, options));
  }
  const values = logits.dataSync<'float32'>();
  const steps = processors(options);
  const numbers = Int32Array.from(rows, (row, i) => {
    const rowLogits = values.slice(i * vocabulary, (i + 1) * vocabulary);
    for (const step of steps) step(rowLogits, seenBy(row));
    return options.temperature === 0 ? argmax(rowLogits) : draw(rowLogits, uniforms[i] as number);
  });
  return { ids: null, numbers: () => numbers, dispose: () => undefined };
}

/** The same, waited for. */
export function chooseNext(...given: Parameters<typeof choose>): Int32Array {
  const choice = choose(...given);
  try {
    return choice.numbers();
  } finally {
    choice.dispose();
  }
}

/** Takes the ids over. */
function choiceOf(ids: tf.Tensor1D): Choice {
  const numbers = (): Int32Array => ids.dataSync<'int32'>() as Int32Array;
  const dispose = (): void => ids.dispose();
  try {
    const read = startRead(ids);
    if (read === null) return { ids: null, numbers, dispose };
    return {
      ids,
      numbers: () => new Int32Array(read.wait()),
      dispose: () => {
        read.cancel();
        dispose();
      },
    };
  } catch (error) {
    dispose();
    throw error;
  }
}

/** The ids on a backend that filters itself. `seen`: of each row the tokens so far, if they are penalised. */
function chooseThere(
  logits: tf.Tensor2D,
  uniforms: readonly number[],
  seen: readonly ReadonlySet<number>[],
  { temperature, topK, topP, minP, repetitionPenalty }: SamplingOptions,
): tf.Tensor1D {
  const vocabulary = logits.shape[1];
  return tf.tidy(() => {
    const places = seen.flatMap((ids, row) => [...ids].map((id) => row * vocabulary + id));
    if (places.length > 0) penaliseInPlace(logits, tf.tensor1d(places, 'int32'), repetitionPenalty);
    const numbers = tf.tensor1d([...uniforms]);
    if (temperature === 0) return sampleRows(logits, numbers, 0);
    return sampleFiltered(logits, numbers, { temperature, topK, topP, minP: minP ?? 0 });
  });
}

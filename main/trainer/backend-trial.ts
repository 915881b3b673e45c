/** How fast the current backend does what training does: products of a training pass, and of a decoding step. */
import * as tf from '@tensorflow/tfjs-core';
import { readModelConfig } from '../model/config.ts';

/** A linear layer of the model, and the rows that a training pass and a decoding step send through it. */
export interface TrialShapes {
  readonly width: number;
  readonly inner: number;
  readonly trainingRows: number;
  readonly decodingRows: number;
  /** Products of a decoding step, one after the other. */
  readonly decodingProducts: number;
}

/** Where no model is known: a width between the tiny model's and a large one's. */
const USUAL: TrialShapes = { width: 1024, inner: 1024, trainingRows: 512, decodingRows: 16, decodingProducts: 64 };

/** Numbers of the trial's weights at most: two seconds are to be enough on any backend. */
const MOST_WEIGHTS = 2 ** 22;
/** Rows and products of a trial with a model's shapes, whose matrices may be ten times as large. */
const MODEL_ROWS = 128;
const MOST_PRODUCTS = 32;

/** A decoder layer's products that wait for each other: q (with k and v), o, gate (with up), down. */
const PRODUCTS_OF_A_LAYER = 4;

/** Trials are repeated for so long; the fastest counts. */
const TRIAL_MS = 1000;

/** After this time a trial is cut, whatever it has done: it must not hold up a start. */
export const MOST_TRIAL_MS = 2000;

/** The shapes of a model's MLP, which is most of it; the usual ones where the folder can't be read. */
export function trialShapes(modelFolder: string | undefined): TrialShapes {
  if (modelFolder === undefined) return USUAL;
  try {
    const { hiddenSize: width, intermediateSize, numLayers } = readModelConfig(modelFolder);
    const inner = Math.min(intermediateSize, Math.max(width, Math.floor(MOST_WEIGHTS / width)));
    const decodingProducts = Math.min(MOST_PRODUCTS, PRODUCTS_OF_A_LAYER * numLayers);
    return { ...USUAL, width, inner, trainingRows: MODEL_ROWS, decodingProducts };
  } catch {
    // A folder that can't be read is reported by the job that reads it.
    return USUAL;
  }
}

class TrialCut extends Error {}

/** Seconds of one round on the current backend, after one to warm up; of one that was cut, no less than it took. */
export function secondsOfTrial(shapes: TrialShapes = USUAL, mostMs: number = MOST_TRIAL_MS): number {
  const start = performance.now();
  const { width, inner, trainingRows, decodingRows, decodingProducts } = shapes;
  const matrix = (rows: number, columns: number): tf.Tensor2D => tf.fill([rows, columns], 1 / columns) as tf.Tensor2D;
  const [up, down] = [matrix(inner, width), matrix(width, inner)];
  const [many, few] = [matrix(trainingRows, width), matrix(decodingRows, width)];
  const through = (x: tf.Tensor2D): tf.Tensor2D => {
    if (performance.now() - start > mostMs) throw new TrialCut();
    return tf.matMul(tf.matMul(x, up, false, true), down, false, true) as tf.Tensor2D;
  };
  const round = (): number => {
    const began = performance.now();
    tf.tidy(() => {
      const product = through(many);
      let step = few;
      for (let i = 0; i < decodingProducts; i += 2) step = through(step);
      // Reading waits for the work; a sum keeps the transfer out of it.
      tf.add(tf.sum(product), tf.sum(step)).dataSync();
    });
    return (performance.now() - began) / 1000;
  };
  let best = Number.POSITIVE_INFINITY;
  try {
    round();
    const end = performance.now() + TRIAL_MS;
    do best = Math.min(best, round());
    while (performance.now() < end);
    return best;
  } catch (error) {
    if (!(error instanceof TrialCut)) throw error;
    return Math.min(best, (performance.now() - start) / 1000);
  } finally {
    tf.dispose([up, down, many, few]);
  }
}

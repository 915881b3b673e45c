/** How fast the current backend does what training does: products of a training pass, and of a decoding step. */
import * as tf from '@tensorflow/tfjs-core';
import { readModelConfig } from '../../model/config.ts';
import { typeOfLinears } from '../../model/stored-type.ts';
import { WEBGPU_BACKEND } from '../../tensor/webgpu/backend.ts';
import { makeWeight, type WeightPrecision, type WeightSource } from '../../tensor/weights.ts';
import type { TrainConfig } from '../config/config.ts';

/** What of a run's configuration decides how large its products are, and of what weights. */
export type TrialRun = Pick<
  TrainConfig,
  | 'per_device_train_batch_size'
  | 'steps_per_generation'
  | 'gradient_accumulation_steps'
  | 'max_completion_length'
  | 'use_peft'
  | 'base_weights'
>;

/** A linear layer of the model, and the rows that a training pass and a decoding step send through it. */
export interface TrialShapes {
  readonly width: number;
  readonly inner: number;
  readonly trainingRows: number;
  readonly decodingRows: number;
  /** Products of a decoding step, one after the other. */
  readonly decodingProducts: number;
  /** How the run keeps the layer's weights, and how the file has them. */
  readonly precision: WeightPrecision;
  readonly type: WeightSource['type'];
}

/** Where no model is known: a width between the tiny model's and a large one's. */
const USUAL: TrialShapes = {
  width: 1024,
  inner: 1024,
  trainingRows: 512,
  decodingRows: 16,
  decodingProducts: 64,
  precision: 'float32',
  type: 'F32',
};

/** Numbers of the trial's weights at most: two seconds are to be enough on any backend. */
const MOST_WEIGHTS = 2 ** 22;
/** Rows and products of a trial with a model's shapes, whose matrices may be ten times as large. */
const MODEL_ROWS = 128;
const MOST_ROWS = 512;
const MOST_PRODUCTS = 32;
/** Multiplications of a trial's decoding at most. */
const MOST_DECODING = 2 ** 32;

/** A decoder layer's products that wait for each other: q (with k and v), o, gate (with up), down. */
const PRODUCTS_OF_A_LAYER = 4;

/** Trials are repeated for so long; the fastest counts. */
const TRIAL_MS = 1000;

/** After this time a trial is cut, whatever it has done: it must not hold up a start. */
export const MOST_TRIAL_MS = 2000;

/**
 * The shapes of a model's MLP, which is most of it, with the run's rows and weights where it is a run; the usual ones
 * where the folder can't be read.
 */
export function trialShapes(modelFolder: string | undefined, run?: TrialRun): TrialShapes {
  if (modelFolder === undefined) return USUAL;
  try {
    const config = readModelConfig(modelFolder);
    const { hiddenSize: width, intermediateSize, numLayers } = config;
    const inner = Math.min(intermediateSize, Math.max(width, Math.floor(MOST_WEIGHTS / width)));
    const { trainingRows, decodingRows, precision } = rowsOf(run);
    const affordable = 2 * Math.floor(MOST_DECODING / (2 * decodingRows * width * inner));
    const decodingProducts = Math.max(2, Math.min(MOST_PRODUCTS, PRODUCTS_OF_A_LAYER * numLayers, affordable));
    const type = precision === 'float32' ? 'F32' : typeOfLinears(modelFolder, config);
    return { width, inner, trainingRows, decodingRows, decodingProducts, precision, type };
  } catch {
    // A folder that can't be read is reported by the job that reads it.
    return USUAL;
  }
}

/** Decoding has a row for each completion of a generation, a training pass one for each token of a micro-batch. */
function rowsOf(run: TrialRun | undefined): Pick<TrialShapes, 'trainingRows' | 'decodingRows' | 'precision'> {
  if (run === undefined) return { ...USUAL, trainingRows: MODEL_ROWS };
  const { per_device_train_batch_size: rows, use_peft, base_weights } = run;
  const generated = rows * (run.steps_per_generation ?? run.gradient_accumulation_steps);
  const trained = run.max_completion_length === null ? MODEL_ROWS : rows * run.max_completion_length;
  return {
    trainingRows: Math.min(MOST_ROWS, trained),
    decodingRows: Math.min(MODEL_ROWS, generated),
    precision: !use_peft ? 'float32' : base_weights === 'auto' ? 'stored' : base_weights,
  };
}

/** A source of the same number everywhere. */
export function constantSource(value: number, type: WeightSource['type'], size: number): WeightSource {
  const floats = (count: number): Float32Array<ArrayBuffer> => new Float32Array(count).fill(value);
  // Any number will do: the upper half of it is a bfloat16, and as a float16 finite.
  const half = (new Uint32Array(floats(1).buffer)[0] ?? 0) >>> 16;
  return {
    type,
    read: () => floats(size),
    readPart: (_, count) => floats(count),
    readRaw: (_, count) =>
      Buffer.from(type === 'F32' ? floats(count).buffer : new Uint16Array(count).fill(half).buffer),
  };
}

/** "stored" is for backends that compute with 16 bits as they are. */
const precisionHere = (precision: WeightPrecision): WeightPrecision =>
  precision === 'stored' && tf.getBackend() !== WEBGPU_BACKEND ? 'float32' : precision;

class TrialCut extends Error {}

/** Seconds of one round on the current backend, after one to warm up; of one that was cut, no less than it took. */
export function secondsOfTrial(shapes: TrialShapes = USUAL, mostMs: number = MOST_TRIAL_MS): number {
  const { width, inner, trainingRows, decodingRows, decodingProducts, type, precision } = shapes;
  const matrix = (rows: number, columns: number): tf.Tensor2D => tf.fill([rows, columns], 1 / columns) as tf.Tensor2D;
  const weight = (rows: number, columns: number): tf.Tensor2D =>
    makeWeight(
      constantSource(1 / columns, type, rows * columns),
      [rows, columns],
      precisionHere(precision),
    ) as tf.Tensor2D;
  const [up, down] = [weight(inner, width), weight(width, inner)];
  const [many, few] = [matrix(trainingRows, width), matrix(decodingRows, width)];
  const start = performance.now();
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

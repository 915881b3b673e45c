/** What the report times on the current backend: plain peaks, decoding, training passes. */

import * as tf from '@tensorflow/tfjs-core';
import { createAdapter, disposeAdapter } from '../../../model/lora.ts';
import { disposeModel } from '../../../model/model.ts';
import type { ComputeDtype } from '../../../tensor/compute-dtype.ts';
import type { WebGpuBackend } from '../../../tensor/webgpu/backend.ts';
import type { WeightPrecision } from '../../../tensor/weights.ts';
import { disposeBatch, uploadGroups } from '../../batching/packed-batch.ts';
import { secondsEach, waitForBackend } from '../queued-time.ts';
import { forwardOperations, makeModel, type Shape, weightBytes } from './shapes.ts';
import { LORA, promptOf, sampleRows, trainingPass } from './timed-work.ts';
import { openWholeSteps } from './whole-step.ts';

/** How much is timed. */
export interface Load {
  /** Edge of the plain product. */
  readonly edge: number;
  readonly promptTokens: number;
  readonly rows: number;
  /** Tokens that are decoded a row. */
  readonly decoded: number;
  /** Tokens of a completion that is trained on. */
  readonly trained: number;
}

export const GPU_LOAD: Load = { edge: 4096, promptTokens: 64, rows: 16, decoded: 64, trained: 64 };
/** Enough to see that the report works. */
export const SOFTWARE_LOAD: Load = { edge: 128, promptTokens: 8, rows: 2, decoded: 2, trained: 4 };

/** Each peak is measured for so long: enough that waiting for the end is nothing of it. */
const PEAK_MS = 500;

/** Seconds of the fastest of some runs, after one to warm up. */
function best(runs: number, work: () => void): number {
  work();
  let seconds = Number.POSITIVE_INFINITY;
  for (let i = 0; i < runs; i++) {
    const began = performance.now();
    work();
    seconds = Math.min(seconds, (performance.now() - began) / 1000);
  }
  return seconds;
}

export interface Peaks {
  /** Billions of operations a second in a large plain product. */
  readonly gflops: number;
  /** Billions of bytes a second, read. */
  readonly bandwidth: number;
}

export function measurePeaks({ edge }: Load): Peaks {
  const [a, b] = [tf.fill([edge, edge], 0.5), tf.fill([edge, edge], 0.25)] as [tf.Tensor2D, tf.Tensor2D];
  const product = secondsEach(() => tf.matMul(a, b, false, true).dispose(), waitForBackend, PEAK_MS);
  tf.dispose([a, b]);
  const floats = 16 * edge * edge;
  const x = tf.fill([floats], 1);
  const read = secondsEach(() => tf.sum(x).dispose(), waitForBackend, PEAK_MS);
  x.dispose();
  return { gflops: (2 * edge ** 3) / product / 1e9, bandwidth: (4 * floats) / read / 1e9 };
}

export interface Timing {
  readonly shape: string;
  /** Of the linear layers. */
  readonly precision: WeightPrecision;
  /** What their products were computed in. */
  readonly computed: ComputeDtype;
  /** New tokens a second over all rows, which follow one prompt, with an adapter on all linear layers. */
  readonly decoded: number;
  /** Share of the measured bandwidth that reading the weights once a step takes. */
  readonly bandwidthShare: number;
  /** Tokens a second forward and backward under the adapter. */
  readonly trained: number;
  /** Share of the measured peak: two products a token and weight forward, two back. */
  readonly peakShare: number;
  /** Seconds of a whole GRPO step: a group sampled, its loss differentiated, the adapter stepped. */
  readonly stepSeconds: number;
  readonly dispatchesPerToken: number;
  readonly peakBytes: number;
}

export interface TimedShape extends Pick<Timing, 'precision' | 'computed'> {
  readonly shape: Shape;
}

/** By the compute_dtype that is set: `computed` names it. */
export function timeShape(
  backend: WebGpuBackend,
  { shape: of, precision, computed }: TimedShape,
  peaks: Peaks,
  load: Load,
): Timing {
  const { promptTokens, rows, decoded: tokens, trained: trainedTokens } = load;
  backend.gpu.restartPeak();
  const model = makeModel(of, promptTokens + Math.max(tokens + 4, trainedTokens) + 1, precision);
  const adapter = createAdapter(model, LORA, 1);
  try {
    const prompt = promptOf(promptTokens, of.config.vocabSize);
    const sample = (count: number): void => sampleRows(model, adapter, prompt, { rows, tokens: count });
    // Two lengths, so that reading the prompt drops out.
    const [few, many] = [best(2, () => sample(2)), best(2, () => sample(2 + tokens))];
    const step = Math.max((many - few) / tokens, 1e-9);
    const before = backend.gpu.counts.dispatches;
    sample(3);
    const three = backend.gpu.counts.dispatches;
    sample(4);
    const dispatchesPerToken = backend.gpu.counts.dispatches - three - (three - before);
    const trained = trainingTokens(model, adapter, prompt, load);
    const stepSeconds = wholeStep(model, adapter, prompt, load);
    return {
      shape: of.name,
      precision,
      computed,
      decoded: rows / step,
      bandwidthShare: weightBytes(of, precision) / step / 1e9 / peaks.bandwidth,
      trained,
      peakShare: (trained * 2 * forwardOperations(of)) / 1e9 / peaks.gflops,
      stepSeconds,
      dispatchesPerToken,
      peakBytes: backend.gpu.counts.peakBytes,
    };
  } finally {
    disposeAdapter(adapter);
    disposeModel(model);
  }
}

/** The step's end is that of its work: only the next one's sampling reads what the update has written. */
function wholeStep(
  model: ReturnType<typeof makeModel>,
  adapter: ReturnType<typeof createAdapter>,
  promptIds: readonly number[],
  load: Load,
): number {
  const steps = openWholeSteps(model, adapter, promptIds, load);
  try {
    return best(2, () => {
      steps.step();
      waitForBackend();
    });
  } finally {
    steps.dispose();
  }
}

function trainingTokens(
  model: ReturnType<typeof makeModel>,
  adapter: ReturnType<typeof createAdapter>,
  promptIds: readonly number[],
  { rows, trained }: Load,
): number {
  const completion = Array.from({ length: trained }, (_, i) => (5 * i + 3) % model.config.vocabSize);
  const groups = [{ promptIds, completions: Array.from({ length: rows }, () => completion) }];
  const batch = uploadGroups(groups);
  const seconds = best(2, () => trainingPass(model, adapter, batch));
  const packed = batch.ids.size;
  disposeBatch(batch);
  return packed / seconds;
}

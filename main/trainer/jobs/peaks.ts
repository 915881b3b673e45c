/** The most that a backend can do here: a large product, and a copy of far more than the caches hold. */
import * as tf from '@tensorflow/tfjs-core';
import { gatherRows } from '../../tensor/ops/rows.ts';
import type { Gpu } from '../../tensor/webgpu/gpu.ts';
import { makeWeight } from '../../tensor/weights.ts';
import { constantSource } from '../backend/trial.ts';
import { GPU_LOAD, measurePeaks as measureReportPeaks, SOFTWARE_LOAD } from './gpu-report/measure.ts';
import { secondsEach, waitForBackend } from './queued-time.ts';

/** The fastest that was measured on this backend with these threads. */
export interface Peaks {
  /** FLOP per second of a large product. */
  readonly product: number;
  /** Bytes read and written per second by a copy of far more than the caches hold. */
  readonly copy: number;
}

const PRODUCT_SIZE = 768;
const COPY_ROWS = 32_768;
const COPY_WIDTH = 512;
const PEAK_MS = 1000;

/** Measures the peaks of a backend that computes while it is called: the best of a second each. */
export function measurePeaks(): Peaks {
  return tf.tidy(() => {
    const [a, b] = [0, 1].map((seed) => tf.randomUniform([PRODUCT_SIZE, PRODUCT_SIZE], -1, 1, 'float32', seed)) as [
      tf.Tensor2D,
      tf.Tensor2D,
    ];
    const product = fastest(() => tf.matMul(a, b, false, true));
    const x = tf.ones<tf.Rank.R2>([COPY_ROWS, COPY_WIDTH]);
    const rows = tf.range(0, COPY_ROWS, 1, 'int32');
    // tfjs's own kernels run on one thread, ours on all: the faster one is the machine's.
    const copy = Math.min(
      fastest(() => gatherRows(x, rows)),
      fastest(() => tf.neg(x)),
    );
    return { product: (2 * PRODUCT_SIZE ** 3) / product, copy: (2 * 4 * COPY_ROWS * COPY_WIDTH) / copy };
  });
}

/** The best of two measurements. */
export function fasterOf(one: Peaks, other: Peaks): Peaks {
  return { product: Math.max(one.product, other.product), copy: Math.max(one.copy, other.copy) };
}

/** Seconds of the fastest run. */
function fastest(work: () => tf.Tensor): number {
  const end = performance.now() + PEAK_MS;
  let best = Number.POSITIVE_INFINITY;
  while (performance.now() < end) {
    const began = performance.now();
    work().dispose();
    best = Math.min(best, (performance.now() - began) / 1000);
  }
  return best;
}

/**
 * The same of the GPU that is the current backend, where bytes are those read; a product by 16-bit weights counts, too,
 * where matrix units make it faster.
 */
export function measureGpuPeaks(gpu: Gpu): Peaks {
  const load = gpu.adapter.software ? SOFTWARE_LOAD : GPU_LOAD;
  const { gflops, bandwidth } = measureReportPeaks(load);
  const peaks = { product: 1e9 * gflops, copy: 1e9 * bandwidth };
  return gpu.matrixUnit === null ? peaks : { ...peaks, product: Math.max(peaks.product, unitsSpeed(load.edge)) };
}

/** FLOP per second of a product by bfloat16 weights. */
function unitsSpeed(edge: number): number {
  return tf.tidy(() => {
    const x = tf.fill<tf.Rank.R2>([edge, edge], 0.5);
    const w = makeWeight(constantSource(0.5, 'BF16', edge * edge), [edge, edge], 'bfloat16') as tf.Tensor2D;
    return (2 * edge ** 3) / secondsEach(() => tf.matMul(x, w, false, true).dispose(), waitForBackend, PEAK_MS);
  });
}

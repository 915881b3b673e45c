/** Job: checks that this machine's tensor backend computes correctly, and how fast. */
import * as tf from '@tensorflow/tfjs-core';
import type { GpuMemory } from '../../native/gpu-memory.ts';
import { randomStream } from '../../random.ts';
import { WEBGPU_BACKEND, type WebGpuBackend } from '../../tensor/webgpu/backend.ts';
import { adapterName, unitsInWords } from '../../tensor/webgpu/describe.ts';
import type { AdapterFacts } from '../../tensor/webgpu/protocol.ts';
import type { BackendChoice } from '../backend/open-backend.ts';
import { gpuMemory } from '../memory/device.ts';
import { secondsEach, waitForBackend } from './queued-time.ts';

export interface SelfCheckJob extends BackendChoice {
  readonly kind: 'self-check';
}

export interface SelfCheckResult {
  /** Maximum difference from the product computed in double precision. */
  readonly error: number;
  /** Billions of additions and multiplications per second, in 512 x 512 products. */
  readonly gflops: number;
  /** Only of the webgpu backend. */
  readonly gpu: GpuCheck | null;
}

/** What the doctor says of a GPU. */
export interface GpuCheck {
  /** The adapter with its driver, as a person reads it. */
  readonly name: string;
  readonly adapter: AdapterFacts;
  /** The matrix units that products use, in words. */
  readonly units: string;
  /** Every adapter of the machine. */
  readonly adapters: readonly string[];
  /** Billions of bytes a second, read from its memory. */
  readonly bandwidth: number;
  /** What a plan may use of its memory; null of a software adapter. */
  readonly memory: GpuMemory | null;
}

/** Floats that are read to measure the bandwidth: more than any cache holds, and soon read. */
const BANDWIDTH_FLOATS = 2 ** 26;

/** Multiplies matrices and compares them with plain arithmetic. */
export async function runSelfCheckJob(): Promise<SelfCheckResult> {
  return { error: largestError(256), gflops: speed(speedSize()), gpu: gpuCheck() };
}

/** A GPU needs a larger product than a processor before it is busy; one that computes on the processor doesn't. */
function speedSize(): number {
  return tf.getBackend() === WEBGPU_BACKEND && !(tf.backend() as WebGpuBackend).gpu.adapter.software ? 2048 : 512;
}

function gpuCheck(): GpuCheck | null {
  if (tf.getBackend() !== WEBGPU_BACKEND) return null;
  const { gpu } = tf.backend() as WebGpuBackend;
  const bandwidth = gpu.adapter.software ? 0 : measuredBandwidth();
  const { adapter } = gpu;
  return {
    ...{ name: adapterName(adapter), adapter, units: unitsInWords(gpu) },
    ...{ adapters: gpu.adapters(), bandwidth, memory: gpuMemory(gpu) },
  };
}

function measuredBandwidth(): number {
  const x = tf.fill([BANDWIDTH_FLOATS], 1);
  const seconds = secondsEach(() => tf.sum(x).dispose(), waitForBackend);
  x.dispose();
  return (4 * BANDWIDTH_FLOATS) / seconds / 1e9;
}

function largestError(n: number): number {
  const [a, b] = [randomMatrix(n, 1), randomMatrix(n, 2)];
  const product = tf.tidy(() => tf.matMul(tf.tensor2d(a, [n, n]), tf.tensor2d(b, [n, n])).dataSync<'float32'>());
  let worst = 0;
  // Every seventh row: enough to notice a wrong tile, and fast.
  for (let i = 0; i < n; i += 7) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      for (let k = 0; k < n; k++) sum += (a[i * n + k] ?? 0) * (b[k * n + j] ?? 0);
      worst = Math.max(worst, Math.abs(sum - (product[i * n + j] ?? Number.NaN)));
    }
  }
  return worst;
}

function speed(n: number): number {
  const [a, b] = [tf.tensor2d(randomMatrix(n, 3), [n, n]), tf.tensor2d(randomMatrix(n, 4), [n, n])];
  // The product itself isn't read: on a GPU its way here would take longer than it took.
  const seconds = secondsEach(() => tf.matMul(a, b).dispose(), waitForBackend);
  tf.dispose([a, b]);
  return (2 * n ** 3) / seconds / 1e9;
}

function randomMatrix(n: number, seed: number): Float32Array {
  const { next } = randomStream(seed);
  return Float32Array.from({ length: n * n }, () => 2 * next() - 1);
}

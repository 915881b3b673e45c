/**
 * TFLOPS of single products on a GPU, by its own clock: `node scripts/bench/webgpu-products.ts`. Frozen bfloat16 weights
 * as they lie and transposed, and plain float32; BRAID_GPU_MATRIX_UNITS=off leaves a GPU's matrix units out. A GPU needs
 * some seconds to reach its speed: the first line comes twice.
 */
import * as tf from '@tensorflow/tfjs-core';
import '../../main/tensor/gradients.ts';
import { gpuOptions } from '../../main/tensor/webgpu/describe.ts';
import { closeWebGpuBackend, openWebGpuBackend } from '../../main/tensor/webgpu/open.ts';
import { makeWeight } from '../../main/tensor/weights.ts';
import { randomWeights } from '../../main/trainer/jobs/gpu-report/shapes.ts';

/** m, k, n: a large one, then those of a 3.2 B model's layers in training, reading a prompt and decoding. */
const SHAPES: readonly (readonly [m: number, k: number, n: number])[] = [
  [4096, 4096, 4096],
  [4096, 4096, 4096],
  [1088, 3072, 3072],
  [1088, 3072, 8192],
  [1088, 8192, 3072],
  [64, 3072, 3072],
  [16, 3072, 16_384],
  [16, 3072, 3072],
];
const RUNS = 20;

const source = randomWeights();
const backend = await openWebGpuBackend({ ...gpuOptions(), timed: true });
for (const [m, k, n] of SHAPES)
  for (const kind of ['bfloat16, x·Wᵀ', 'bfloat16, dy·W', 'float32'] as const) {
    const transposed = kind === 'bfloat16, x·Wᵀ';
    const x = tf.fill([m, k], 0.5) as tf.Tensor2D;
    const shape: [number, number] = transposed ? [n, k] : [k, n];
    const w = (kind === 'float32' ? tf.fill(shape, 0.25) : makeWeight(source, shape, 'stored')) as tf.Tensor2D;
    const multiply = (): void => tf.matMul(x, w, false, transposed).dispose();
    multiply();
    backend.gpu.finish();
    backend.gpu.times();
    for (let i = 0; i < RUNS; i++) multiply();
    const times = backend.gpu.times();
    const seconds = times.reduce((sum, time) => sum + time.seconds, 0) / RUNS;
    const teraflops = ((2 * m * k * n) / seconds / 1e12).toFixed(1);
    const programs = times.map(({ name, groups }) => `${name} [${groups}]`).join('; ');
    console.log(`${m} x ${k} x ${n}, ${kind}: ${(1e6 * seconds).toFixed(0)} µs, ${teraflops} TFLOPS (${programs})`);
    tf.dispose([x, w]);
  }
await closeWebGpuBackend(backend);

/** Packed attention in blocks: heads of many widths, segments that end within a block, and the memory it takes. */
import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it } from 'vitest';
import { packedAttention } from '../../../main/tensor/ops/attention.ts';
import { WEBGPU_BACKEND } from '../../../main/tensor/webgpu/backend.ts';
import { keyGradProgram, queryGradProgram } from '../../../main/tensor/webgpu/kernels/attention-gradients.ts';
import { tileFor, workgroupBytes } from '../../../main/tensor/webgpu/kernels/attention-tile.ts';
import { GUARANTEED } from '../../../main/tensor/webgpu/limits.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { compile } from './compiles.ts';
import { openGpuForTest } from './open.ts';

const memory = GUARANTEED.maxComputeWorkgroupStorageSize;

describe('the tiles of packed attention', () => {
  it('fit what WebGPU guarantees, for heads of up to 512', async () => {
    const programs = [8, 80, 128, 256, 512].flatMap((headDim) => [
      queryGradProgram(tileFor(headDim, 1, memory)),
      keyGradProgram(tileFor(headDim, 2, memory)),
    ]);
    for (const { fault, messages, memory: more } of await compile(programs))
      expect({ fault, messages, more }).toEqual({ fault: null, messages: [], more: null });
    expect(workgroupBytes(tileFor(512, 2, memory))).toBeLessThanOrEqual(memory);
  });

  it('are refused where a line of a head is too long for them', () => {
    expect(() => tileFor(1024, 1, memory)).toThrow('heads of 1024');
  });
});

const gpu = await openGpuForTest();
afterAll(async () => void (gpu !== null && (await closeWebGpuBackend(gpu))));

/** A prompt with completions whose rows fill a block, cross into the next or leave it nearly empty, and a whole segment. */
const SEGMENTS = [
  [0, 9, 0, 0],
  [9, 40, 0, 9],
  [49, 16, 0, 9],
  [65, 1, 0, 9],
  [66, 7, 66, 7],
];
const TOKENS = 73;

describe.runIf(gpu !== null)('packed attention on webgpu', () => {
  it.each([
    [2, 1, 20],
    [3, 1, 80],
    [2, 2, 128],
    [4, 1, 256],
  ])('has the numbers of the plain backend: %i heads on %i, of %i', async (numHeads, numKvHeads, headDim) => {
    const shape = { numHeads, numKvHeads, headDim, scale: headDim ** -0.5 };
    const widths = [numHeads, numKvHeads, numKvHeads].map((heads) => heads * headDim);
    const numbers: Float32Array[][] = [];
    for (const backend of ['cpu', WEBGPU_BACKEND]) {
      await tf.setBackend(backend);
      numbers.push(
        tf.tidy(() => {
          const table = tf.tensor2d(SEGMENTS, [SEGMENTS.length, 4], 'int32');
          const inputs = widths.map((width, i): tf.Tensor => tf.mul(2, randomTensor([TOKENS, width], i + 1)));
          const attend = (...[q, k, v]: tf.Tensor[]): tf.Tensor =>
            packedAttention(q as tf.Tensor2D, k as tf.Tensor2D, v as tf.Tensor2D, table, shape);
          const dy = randomTensor([TOKENS, numHeads * headDim], 4);
          return [attend(...inputs), ...tf.grads(attend)(inputs, dy)].map((x) => x.dataSync<'float32'>());
        }),
      );
    }
    const [plain = [], found = []] = numbers;
    expect(found).toHaveLength(4);
    found.forEach((values, i) => {
      const off = values.map((value, j) => Math.abs(value - (plain[i]?.[j] ?? Number.NaN)));
      expect(Math.max(...off)).toBeLessThan(2e-5);
    });
  });
});

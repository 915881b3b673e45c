/** Packed attention in blocks: heads of many widths, segments that end within a block, and the memory it takes. */
import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { registerBfloat16, setComputeDtype } from '../../../main/tensor/compute-dtype.ts';
import { packedAttention } from '../../../main/tensor/ops/attention.ts';
import { WEBGPU_BACKEND } from '../../../main/tensor/webgpu/backend.ts';
import { forwardProgram } from '../../../main/tensor/webgpu/kernels/attention-forward.ts';
import { keyGradProgram, queryGradProgram } from '../../../main/tensor/webgpu/kernels/attention-gradients.ts';
import { cutOf, registersBytes } from '../../../main/tensor/webgpu/kernels/attention-registers.ts';
import { takesHeads } from '../../../main/tensor/webgpu/kernels/attention-units.ts';
import { GUARANTEED } from '../../../main/tensor/webgpu/limits.ts';
import type { MatrixUnit } from '../../../main/tensor/webgpu/matrix-units.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { compile } from './compiles.ts';
import { emulateUnits } from './emulated-units.ts';
import { byUnits, opened, openGpuForTest } from './open.ts';
import * as units from './units.ts';

const memory = GUARANTEED.maxComputeWorkgroupStorageSize;

describe('the programs of packed attention', () => {
  it('fit what WebGPU guarantees, for heads of up to 512', async () => {
    const keys = [8, 80, 128, 256, 512].map((headDim) => ({ headDim, unit: null, memory }));
    const programs = keys.flatMap((key) => [forwardProgram(key), queryGradProgram(key), keyGradProgram(key)]);
    for (const { fault, messages, memory: more } of await compile(programs))
      expect({ fault, messages, more }).toEqual({ fault: null, messages: [], more: null });
    for (const { headDim } of keys) expect(registersBytes(cutOf(headDim, 2))).toBeLessThanOrEqual(memory);
  });

  it('are WGSL for all units that can multiply heads, in the memory of an Apple GPU', async () => {
    const keys = Object.values(units).flatMap((unit) =>
      [64, 128, 256]
        .filter((headDim) => takesHeads(unit, headDim, 32_768))
        .map((headDim) => ({ headDim, unit, memory })),
    );
    expect(keys).toHaveLength(15);
    const programs = keys.flatMap((key) => [forwardProgram(key), queryGradProgram(key), keyGradProgram(key)]);
    for (const { fault, messages, memory: more } of await compile(programs)) {
      expect({ fault, messages }).toEqual({ fault: null, messages: [] });
      expect(more ?? 0).toBeLessThanOrEqual(32_768);
    }
  });

  it('are refused where a line of a head is too long for them', () => {
    expect(() => forwardProgram({ headDim: 1024, unit: null, memory })).toThrow('heads of 1024');
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
/** Of the keys: a row's largest score grows from tile to tile. */
const GROWING = Array.from({ length: TOKENS }, (_, i) => 0.2 + i / 20);

/** What attention gives on this backend, and its gradients. */
async function attentionOn(
  backend: string,
  [numHeads, numKvHeads, headDim]: readonly [number, number, number],
  size: number,
): Promise<readonly Float32Array[]> {
  await tf.setBackend(backend);
  return tf.tidy(() => {
    const shape = { numHeads, numKvHeads, headDim, scale: headDim ** -0.5 };
    const table = tf.tensor2d(SEGMENTS, [SEGMENTS.length, 4], 'int32');
    const [q, k, v] = [numHeads, numKvHeads, numKvHeads].map(
      (heads, i): tf.Tensor => tf.mul(2, randomTensor([TOKENS, heads * headDim], i + 1)),
    ) as [tf.Tensor, tf.Tensor, tf.Tensor];
    const inputs = [q, tf.mul(k, tf.tensor2d(GROWING, [TOKENS, 1])), v];
    const attend = (...[q, k, v]: tf.Tensor[]): tf.Tensor =>
      packedAttention(q as tf.Tensor2D, k as tf.Tensor2D, v as tf.Tensor2D, table, shape);
    const dy = tf.mul(size, randomTensor([TOKENS, numHeads * headDim], 4));
    return [attend(...inputs), ...tf.grads(attend)(inputs, dy)].map((x) => x.dataSync<'float32'>());
  });
}

/** The largest difference, of the largest number. */
function apart(found: Float32Array = new Float32Array(), expected: Float32Array = new Float32Array()): number {
  const off = expected.map((value, i) => Math.abs(value - (found[i] ?? Number.NaN)));
  return Math.max(...off) / Math.max(...expected.map(Math.abs));
}

describe.runIf(gpu !== null)('packed attention on webgpu', () => {
  it.each([[[2, 1, 20]], [[3, 1, 80]], [[2, 2, 128]], [[4, 1, 256]]] as const)(
    'has the numbers of the plain backend: heads, on how many, of %j',
    async (heads) => {
      const expected = await attentionOn('cpu', heads, 1);
      const found = await attentionOn(WEBGPU_BACKEND, heads, 1);
      expect(found).toHaveLength(4);
      for (const [i, values] of found.entries()) expect(apart(values, expected[i])).toBeLessThan(2e-6);
    },
  );
});

type Case = readonly [name: string, unit: MatrixUnit, gradients: number];

/** Emulated: a GPU with units of its own adds nothing to that. */
const OTHERS: readonly Case[] = [
  ['subgroups of 64', units.WIDE, 1],
  ['Intel', units.INTEL, 1],
  ['Mesa', units.MESA, 1],
];

describe.runIf(gpu !== null)('packed attention on matrix units', () => {
  const own = gpu?.gpu.matrixUnit ?? units.NVIDIA;
  const heads = [4, 2, 64] as const;
  const OWN: readonly Case[] = [
    ['NVIDIA', own, 1],
    ['NVIDIA, tiny gradients', own, 1e-12],
  ];
  if (gpu !== null) emulateUnits(gpu, own);
  registerBfloat16(WEBGPU_BACKEND, null);
  afterEach(() => setComputeDtype('float32'));

  // A factor has eleven bits: a result is off by some 2^-12 of its terms, and isn't what float32 makes of it.
  it.each(own === units.NVIDIA ? [...OWN, ...OTHERS] : OWN)(
    'is off by what rounding is, where a run computes in bfloat16: %s',
    async (_, unit, size) => {
      const { gpu: device } = opened(gpu);
      device.matrixUnit = unit;
      const expected = await attentionOn(WEBGPU_BACKEND, heads, size);
      setComputeDtype('bfloat16');
      const found = await attentionOn(WEBGPU_BACKEND, heads, size);
      found.forEach((values, i) => {
        expect(apart(values, expected[i])).toBeGreaterThan(1e-5);
        expect(apart(values, expected[i])).toBeLessThan(3e-3);
      });
    },
  );

  it('is computed in float32 on units of float32, and where heads are none of whole units', async () => {
    const { gpu: device } = opened(gpu);
    setComputeDtype('bfloat16');
    const before = byUnits(opened(gpu), 'PackedAttention');
    device.matrixUnit = units.APPLE;
    await attentionOn(WEBGPU_BACKEND, heads, 1);
    device.matrixUnit = own;
    await attentionOn(WEBGPU_BACKEND, [2, 1, 20], 1);
    expect(byUnits(opened(gpu), 'PackedAttention')).toBe(before);
  });
});

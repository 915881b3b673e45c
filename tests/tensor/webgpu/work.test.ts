import * as tf from '@tensorflow/tfjs-core';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { packedAttention } from '../../../main/tensor/ops/attention.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { measureSpeed } from '../../../main/tensor/webgpu/speed.ts';
import { BATCH_WORK, equalParts, MOST_WORK, partsByCost } from '../../../main/tensor/webgpu/work.ts';
import { randomTensor } from '../ops/finite-differences.ts';
import { opened, openGpuForTest } from './open.ts';

describe('equalParts', () => {
  it('leaves together what is within the limit, and covers everything otherwise', () => {
    expect(equalParts(5, 10, 50)).toEqual([{ first: 0, count: 5, work: 50 }]);
    expect(equalParts(5, 10, 20)).toEqual([
      { first: 0, count: 2, work: 20 },
      { first: 2, count: 2, work: 20 },
      { first: 4, count: 1, work: 10 },
    ]);
  });

  it('has parts of one where one is beyond the limit', () => {
    expect(equalParts(2, 10, 5).map(({ count }) => count)).toEqual([1, 1]);
  });
});

describe('partsByCost', () => {
  it('begins another part before the limit is passed', () => {
    expect(partsByCost([4, 3, 3, 2, 9, 1], 2, 14)).toEqual([
      { first: 0, count: 2, work: 14 },
      { first: 2, count: 2, work: 10 },
      { first: 4, count: 1, work: 18 },
      { first: 5, count: 1, work: 2 },
    ]);
    expect(partsByCost([], 2, 14)).toEqual([]);
    // A dimension holds so many workgroups, however little they do.
    expect(partsByCost([1, 1, 1], 1, 14, 2)).toEqual([
      { first: 0, count: 2, work: 2 },
      { first: 2, count: 1, work: 1 },
    ]);
  });
});

const whole = await openGpuForTest();

describe.runIf(whole !== null)('measureSpeed', () => {
  const backend = opened(whole);

  it('leaves a slow GPU what it can do, gives a fast one more, and frees everything', () => {
    const before = tf.memory().numTensors;
    measureSpeed(backend, [8]);
    expect(backend.gpu.mostWork).toBe(MOST_WORK);
    let clock = 0;
    measureSpeed(backend, [64], () => {
      clock += 0.0001;
      return clock;
    });
    // 2^19 operations in a ten-millionth of a second, for a quarter of a second.
    expect(backend.gpu.mostWork).toBeCloseTo(0.25 * (2 ** 19 / 1e-7), -3);
    backend.gpu.mostWork = MOST_WORK;
    expect(tf.memory().numTensors).toBe(before);
  });

  it('keeps what is safe where a product fails', () => {
    backend.gpu.mostWork = MOST_WORK;
    const failing = vi.spyOn(backend.gpu, 'finish').mockImplementation(() => {
      throw new Error('a driver that can not');
    });
    measureSpeed(backend, [8]);
    failing.mockRestore();
    expect(backend.gpu.mostWork).toBe(MOST_WORK);
  });

  it('passes on that the GPU is gone', () => {
    const failing = vi.spyOn(backend.gpu, 'finish').mockImplementation(() => {
      throw new BraidError('GPU_LOST', 'gone', { kind: 'runtime', remedy: 'Try again.' });
    });
    expect(() => measureSpeed(backend, [8])).toThrow('gone');
    failing.mockRestore();
  });
});

/** Results and dispatches with dispatches of `mostWork` operations. */
async function with_<T>(mostWork: number | undefined, run: () => T): Promise<{ result: T; dispatches: number }> {
  const backend = opened(await openGpuForTest(mostWork === undefined ? {} : { mostWork }));
  // Opening a real GPU takes some, too.
  const before = backend.gpu.counts.dispatches;
  const result = run();
  const dispatches = backend.gpu.counts.dispatches - before;
  await closeWebGpuBackend(backend);
  return { result, dispatches };
}

describe.runIf(whole !== null)('work beyond one dispatch', () => {
  afterAll(() => closeWebGpuBackend(opened(whole)));

  async function sameInParts(run: () => readonly (readonly number[])[], mostWork: number): Promise<number> {
    const [one, parts] = [await with_(undefined, run), await with_(mostWork, run)];
    expect(parts.result).toEqual(one.result);
    return parts.dispatches - one.dispatches;
  }

  const numbers = (tensors: readonly tf.Tensor[]): number[][] => tensors.map((tensor) => [...tensor.dataSync()]);

  it('is a product in parts of its longer side, with the same numbers', async () => {
    const product = (m: number, k: number, n: number) => () =>
      tf.tidy(() => numbers([tf.matMul(randomTensor([m, k], 1), randomTensor([k, n], 2))]));
    // Tiles of 32: five rows of them, then five columns.
    expect(await sameInParts(product(150, 40, 36), 2 * 64 * 36 * 40)).toBe(2);
    expect(await sameInParts(product(36, 40, 150), 2 * 36 * 64 * 40)).toBe(2);
  });

  it('is a product of few rows in parts of its rows', async () => {
    const rows = () =>
      tf.tidy(() => numbers([tf.matMul(randomTensor([13, 64], 1), randomTensor([40, 64], 2), false, true)]));
    expect(await sameInParts(rows, 1)).toBeGreaterThan(0);
  });

  it('is attention in parts of its blocks, forward and backward', async () => {
    const shape = { numHeads: 4, numKvHeads: 2, headDim: 16, scale: 0.25 };
    const attention = () =>
      tf.tidy(() => {
        const [q, k, v] = [randomTensor([60, 64], 1), randomTensor([60, 32], 2), randomTensor([60, 32], 3)];
        // A prompt of twenty and two completions.
        const segments = tf.tensor2d([...[0, 20, 0, 0], ...[20, 25, 0, 20], ...[45, 15, 0, 20]], [3, 4], 'int32');
        const out = (a: tf.Tensor, b: tf.Tensor, c: tf.Tensor): tf.Tensor =>
          packedAttention(a as tf.Tensor2D, b as tf.Tensor2D, c as tf.Tensor2D, segments, shape);
        const weights = randomTensor([60, 64], 4);
        const { value, grads } = tf.valueAndGrads((...x: tf.Tensor[]) =>
          tf.sum(tf.mul(weights, out(x[0] as tf.Tensor, x[1] as tf.Tensor, x[2] as tf.Tensor))),
        )([q, k, v]);
        return numbers([out(q, k, v), value, ...grads]);
      });
    // Forward twice, and both gradients.
    expect(await sameInParts(attention, 1)).toBeGreaterThanOrEqual(3 * 3);
  });
});

describe('the limits', () => {
  it('keep a GPU of 50 billion operations a second well below two seconds', () => {
    expect(MOST_WORK / 50e9).toBeLessThan(1);
    expect((BATCH_WORK + MOST_WORK) / 50e9).toBeLessThan(2.5);
  });
});

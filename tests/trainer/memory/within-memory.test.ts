import { describe, expect, it } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { isOutOfMemory, withinMemory } from '../../../main/trainer/memory/within-memory.ts';

const tensorflow = new Error('Invalid TF_Status: 8\nMessage: OOM when allocating tensor with shape[4096,128256]');
const addon = new Error('std::bad_alloc');
const ours = new BraidError('OUT_OF_MEMORY', 'The wasm backend needed 1 byte');
const binding = new BraidError('GPU_BUFFER_TOO_LARGE', 'Expected a tensor of at most 128 MiB on this GPU, got 130 MiB');

/** Work that fits into so many MiB only, and what it was tried with. */
function fitting(limit: number, error: Error) {
  const tried: number[] = [];
  const work = (megabytes: number): number => {
    tried.push(megabytes);
    if (megabytes > limit) throw error;
    return megabytes;
  };
  return { tried, work };
}

describe('withinMemory', () => {
  it.each([tensorflow, addon, ours, binding])(
    'halves what is planned while memory runs out, and stays there',
    (error) => {
      const owner = {};
      const { tried, work } = fitting(300, error);
      expect(withinMemory(owner, 1024, work)).toBe(256);
      expect(withinMemory(owner, 1024, work)).toBe(256);
      expect(tried).toEqual([1024, 512, 256, 256]);
      expect(withinMemory({}, 128, work)).toBe(128);
    },
  );

  it('halves what the work takes, where the budget is no limit', () => {
    const { tried, work } = fitting(300, ours);
    expect(withinMemory({}, 20_480, work, () => 1024)).toBe(256);
    expect(tried).toEqual([20_480, 512, 256]);
    const little = fitting(18, ours);
    expect(withinMemory({}, 20_480, little.work, () => 20)).toBe(16);
  });

  it.each([ours, binding])('gives up where smaller parts no longer help', (error) => {
    const { tried, work } = fitting(1, error);
    expect(() => withinMemory({}, 64, work)).toThrow(error);
    expect(tried).toEqual([64, 32, 16]);
  });

  it('leaves every other error alone', () => {
    const other = new Error('Invalid TF_Status: 3');
    const { tried, work } = fitting(1, other);
    expect(() => withinMemory({}, 64, work)).toThrow(other);
    expect(tried).toEqual([64]);
    expect(isOutOfMemory('OOM')).toBe(false);
  });
});

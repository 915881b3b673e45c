import { describe, expect, it } from 'vitest';
import { inParallel } from '../main/in-parallel.ts';

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('inParallel', () => {
  it('does so many at a time, and keeps the order', async () => {
    let [now, most] = [0, 0];
    const results = await inParallel([3, 1, 2, 5, 4], 2, async (item, i) => {
      most = Math.max(most, ++now);
      await soon();
      now--;
      return `${i}:${item}`;
    });
    expect(results).toEqual(['0:3', '1:1', '2:2', '3:5', '4:4']);
    expect(most).toBe(2);
  });

  it('begins nothing after a failure, and waits for what has begun', async () => {
    const begun: number[] = [];
    const ended: number[] = [];
    const work = async (item: number): Promise<void> => {
      begun.push(item);
      if (item === 0) throw new Error('no answer');
      await soon();
      ended.push(item);
    };
    await expect(inParallel([0, 1, 2, 3, 4, 5], 3, work)).rejects.toThrow('no answer');
    expect([begun, ended]).toEqual([
      [0, 1, 2],
      [1, 2],
    ]);
  });
});

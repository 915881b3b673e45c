import { describe, expect, it } from 'vitest';
import { timeWithin } from '../../../main/trainer/jobs/gpu-report/job.ts';
import type { Timing } from '../../../main/trainer/jobs/gpu-report/measure.ts';

const work = ['tiny', '135 M', '494 M'].map((name) => ({
  shape: { name },
  precision: 'nf4' as const,
  computed: 'float32' as const,
}));
const timing = { shape: 'tiny', precision: 'nf4' } as Timing;
const progress = async (): Promise<void> => undefined;

describe('timeWithin', () => {
  it('times the next shape after one that fails', async () => {
    const time = ({ shape }: { readonly shape: { readonly name: string } }): Timing => {
      if (shape.name === '135 M') throw new Error('Out of GPU memory');
      return { ...timing, shape: shape.name };
    };
    expect(await timeWithin(work, time, progress)).toEqual([
      timing,
      { shape: '135 M', precision: 'nf4', computed: 'float32', fault: 'Out of GPU memory' },
      { ...timing, shape: '494 M' },
    ]);
  });

  it('says what it did not time when the time is over', async () => {
    const end = performance.now() + 30;
    const slow = (): Timing => {
      while (performance.now() < end + 10);
      return timing;
    };
    expect(await timeWithin(work, slow, progress, 30)).toEqual([
      timing,
      ...work.slice(1).map(({ shape, ...rest }) => ({
        shape: shape.name,
        ...rest,
        fault: expect.stringContaining('not timed'),
      })),
    ]);
  });
});

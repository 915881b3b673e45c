import { describe, expect, it } from 'vitest';
import { rooflineOf } from '../../../main/services/training/roofline.ts';

const op = (phase: string, name: string, seconds: number, flop: number, bytes: number) => ({
  phase,
  op: name,
  sizes: '',
  calls: 4,
  seconds,
  cpuSeconds: 2 * seconds,
  flop,
  bytes,
});
const peaks = { product: 100e9, copy: 10e9 };
const times = [1, 3].map((seconds) => ({ seconds, cpuSeconds: seconds, phases: {} }));

describe('rooflineOf', () => {
  const roofline = rooflineOf(
    {
      peaks,
      ops: [op('loss', 'Product', 1, 50e9, 1e9), op('rollout', 'Copy', 0.5, 0, 2e9)],
      phases: [
        { phase: 'loss', seconds: 2, cpuSeconds: 3 },
        { phase: 'rollout', seconds: 1, cpuSeconds: 1 },
      ],
    },
    times,
  );

  it('gives means per step, and the share of the limit that binds', () => {
    expect(roofline.step_seconds).toBe(2);
    const [product, copy] = roofline.ops;
    // 50 GFLOP at 100 GFLOPS take half of the second; 2 GB at 10 GB/s two fifths of its half.
    expect(product).toMatchObject({ op: 'Product', calls: 2, seconds: 0.5, gflops: 50, threads_busy: 2 });
    expect(product?.share_of_peak).toBeCloseTo(0.5, 12);
    expect(copy?.share_of_peak).toBeCloseTo(0.4, 12);
  });

  it('says what of a phase is spent outside kernels, and what between phases', () => {
    const [loss, rollout, between] = roofline.phases;
    expect(loss).toMatchObject({ phase: 'loss', seconds: 1, kernel_seconds: 0.5, outside_seconds: 0.5 });
    expect(loss?.share_of_peak).toBeCloseTo(0.25, 12);
    expect(rollout).toMatchObject({ kernel_seconds: 0.25, outside_seconds: 0.25, threads_busy: 1 });
    expect(between).toMatchObject({ phase: 'between phases', seconds: 0.5, kernel_seconds: 0 });
  });
});

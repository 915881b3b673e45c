import { describe, expect, it } from 'vitest';
import { opsOnGpu } from '../../../main/trainer/jobs/roofline.ts';

const op = (name: string, bytes: number) => ({
  phase: 'loss',
  op: name,
  sizes: '',
  calls: 2,
  seconds: 0,
  cpuSeconds: 0,
  flop: 100,
  bytes,
});
const time = (label: string, name: string, seconds: number, bytes: number) => ({
  label,
  name,
  groups: '4 × 1 × 1',
  dispatches: 3,
  seconds,
  work: 60,
  bytes,
});

describe('opsOnGpu', () => {
  const ops = new Map([
    ['loss\nLoraLinear', op('LoraLinear', 4000)],
    ['loss\nReshape', op('Reshape', 0)],
  ]);
  const rows = opsOnGpu(ops, [
    time('loss\nLoraLinear', 'Product', 0.5, 1000),
    time('loss\nLoraLinear', 'Sum of slices', 0.25, 200),
    time('rollout', 'Product of rows', 0.125, 80),
  ]);

  it('gives an op the time of all its programs, and no more bytes than they were given', () => {
    expect(rows[0]).toMatchObject({
      op: 'LoraLinear',
      calls: 2,
      seconds: 0.75,
      flop: 100,
      bytes: 1200,
      cpuSeconds: NaN,
    });
  });

  it('leaves out ops that had nothing to compute', () => {
    expect(rows.map(({ op: name }) => name)).not.toContain('Reshape');
  });

  it('counts programs outside of ops by themselves, in the phase that they ran in', () => {
    expect(rows[1]).toMatchObject({
      phase: 'rollout',
      op: 'Product of rows',
      sizes: '[4 × 1 × 1]',
      calls: 3,
      seconds: 0.125,
      flop: 60,
      bytes: 80,
    });
    expect(rows).toHaveLength(2);
  });
});

import { describe, expect, it } from 'vitest';
import { sumProgramTimes } from '../../../main/tensor/webgpu/program-times.ts';

const dispatch = (label: string, name: string, groups: string) => ({ label, name, groups, work: 10, bytes: 4 });

describe('sumProgramTimes', () => {
  it('sums by label, program and workgroups, the longest first', () => {
    const dispatched = [
      dispatch('loss', 'Product', '4 × 1 × 1'),
      dispatch('loss', 'Sum', '1 × 1 × 1'),
      dispatch('loss', 'Product', '4 × 1 × 1'),
      dispatch('rollout', 'Product', '4 × 1 × 1'),
      dispatch('loss', 'Product', '8 × 1 × 1'),
    ];
    const sums = sumProgramTimes(dispatched, Float64Array.of(1, 0.5, 2, 0.25, 8));
    expect(
      sums.map(({ label, name, groups, dispatches, seconds }) => [label, name, groups, dispatches, seconds]),
    ).toEqual([
      ['loss', 'Product', '8 × 1 × 1', 1, 8],
      ['loss', 'Product', '4 × 1 × 1', 2, 3],
      ['loss', 'Sum', '1 × 1 × 1', 1, 0.5],
      ['rollout', 'Product', '4 × 1 × 1', 1, 0.25],
    ]);
    expect(sums[1]).toMatchObject({ work: 20, bytes: 8 });
  });

  it('takes no times that belong to other dispatches', () => {
    expect(() => sumProgramTimes([dispatch('', 'Sum', '1')], new Float64Array(2))).toThrow(
      /times of 1 dispatches, got 2/,
    );
  });
});

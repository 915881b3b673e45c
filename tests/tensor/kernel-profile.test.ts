import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { type KernelCall, profileKernels } from '../../main/tensor/kernel-profile.ts';
import { gatherRows } from '../../main/tensor/ops/rows.ts';
import '../../main/tensor/gradients.ts';

describe('profileKernels', () => {
  it('reports calls until it is ended, changes no result, and takes a kernel of others as one', async () => {
    await tf.setBackend('cpu');
    const calls: KernelCall[] = [];
    const [a, b] = [tf.tensor2d([1, 2, 3, 4], [2, 2]), tf.tensor2d([1, 0, 0, 1], [2, 2])];
    const rows = tf.tensor1d([1, 0], 'int32');
    const work = (): number[] => tf.tidy(() => [...gatherRows(tf.matMul(a, b), rows).dataSync()]);
    const expected = work();
    const end = profileKernels((call) => calls.push(call));
    expect(work()).toEqual(expected);
    end();
    const names = calls.map(({ name }) => name);
    // The portable op is made of other ops, which count as its own.
    expect(names.filter((name) => name === 'BatchMatMul' || name === 'GatherRows')).toEqual([
      'BatchMatMul',
      'GatherRows',
    ]);
    expect(names).not.toContain('GreaterEqual');
    const gather = calls.find(({ name }) => name === 'GatherRows');
    expect(gather?.seconds).toBeGreaterThan(0);
    expect(Array.from(gather?.values('indices') ?? [])).toEqual([1, 0]);
    expect(work()).toEqual(expected);
    expect(calls).toHaveLength(names.length);
    tf.dispose([a, b, rows]);
  });
});

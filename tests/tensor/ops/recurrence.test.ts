import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { overwritten } from '../../../main/tensor/ops/recurrence.ts';
import { openTestBackends, tensorsLeft } from '../../backends.ts';

describe.each(await openTestBackends())('overwritten on $name', (backend) => {
  beforeAll(backend.use);

  it('puts a state where the one before lies, in no other memory, or leaves both as they are', () => {
    const values = Float32Array.of(1, 2, 3, 4);
    const left = tensorsLeft(() => {
      const [target, x] = [tf.tensor2d(values, [2, 2]), tf.tensor2d([5, 6, 7, 8], [2, 2])];
      const isDone = overwritten(target, x);
      expect(isDone).toBe(backend.name === 'native');
      expect([...target.dataSync()]).toEqual(isDone ? [5, 6, 7, 8] : [1, 2, 3, 4]);
      expect([...x.dataSync()]).toEqual([5, 6, 7, 8]);
      tf.dispose([target, x]);
    });
    expect([...values]).toEqual([1, 2, 3, 4]);
    expect(left).toBe(0);
  });
});

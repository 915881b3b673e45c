import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { expect, it } from 'vitest';
import { adapterNorms } from '../../main/model/adapter-norms.ts';
import type { Adapter } from '../../main/model/lora.ts';

it('gives the Frobenius norm of scaling · B·A by layer and module', async () => {
  await tf.setBackend('cpu');
  const parameter = (name: string, values: number[][]) => ({
    name,
    value: tf.variable(tf.tensor2d(values)),
    decay: true,
  });
  // B·A = [[1,2],[2,4]] + [[0,0],[1,-1]]: [[1,2],[3,3]], norm sqrt(23)
  const a = parameter('a', [
    [1, 2],
    [1, -1],
  ]);
  const b = parameter('b', [
    [1, 0],
    [2, 1],
  ]);
  const modules = new Map([['model.layers.3.self_attn.q_proj', { a, b, scaling: 2 }]]);
  const adapter = { config: { r: 2, alpha: 4, targetModules: ['q_proj'], useRslora: false }, modules };
  const [norm] = adapterNorms(adapter as unknown as Adapter);
  expect(norm).toMatchObject({ layer: 3, module: 'q_proj' });
  expect(norm?.norm).toBeCloseTo(2 * Math.sqrt(23), 6);
});

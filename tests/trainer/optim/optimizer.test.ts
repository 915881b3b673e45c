import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Parameter } from '../../../main/model/parameter.ts';
import {
  AdamW,
  accumulateGradients,
  clipCoefficient,
  globalNorm,
  type OptimizerConfig,
  takesDecay,
} from '../../../main/trainer/optim/optimizer.ts';
import { openTestBackends } from '../../backends.ts';

const config: OptimizerConfig = {
  adam_beta1: 0.9,
  adam_beta2: 0.999,
  adam_epsilon: 1e-8,
  weight_decay: 0,
  max_grad_norm: 0,
};
const parameters = (): Parameter[] => [
  { name: 'a.weight', value: tf.tensor1d([1, -2]) },
  { name: 'a.bias', value: tf.tensor1d([0.5]) },
];
const gradients = (a: readonly number[], b: readonly number[]) => ({
  'a.weight': tf.tensor1d([...a]),
  'a.bias': tf.tensor1d([...b]),
});
const values = (list: readonly Parameter[]): number[] => list.flatMap(({ value }) => [...value.dataSync()]);

const backends = await openTestBackends();

describe.each(backends)('AdamW on $name', (backend) => {
  beforeAll(backend.use);

  it('moves by the learning rate against the sign of the gradient at first', () => {
    const list = parameters();
    new AdamW(list, config).update(gradients([3, -0.01], [1]), 0.1);
    [0.9, -1.9, 0.4].forEach((value, i) => {
      expect(values(list)[i]).toBeCloseTo(value, 5);
    });
  });

  it('weights by bias-corrected moments at the second step', () => {
    const list = parameters();
    const optimizer = new AdamW(list, config);
    optimizer.update(gradients([1, 1], [1]), 0.1);
    optimizer.update(gradients([0, 1], [-1]), 0.1);
    // First value: m = 0.09, /0.19 = 0.473684; v = 0.000999, /0.001999 = 0.499750, root 0.706930; ratio 0.670058.
    expect(values(list)[0]).toBeCloseTo(0.9 - 0.0670058, 5);
    expect(values(list)[1]).toBeCloseTo(-2.2, 5);
    // Third: m = −0.01 / 0.19 = −0.0526316, v = 1; so it goes back by 0.00526316.
    expect(values(list)[2]).toBeCloseTo(0.4 + 0.0052632, 5);
  });

  it('decays weights, but not biases and norms', () => {
    const list = parameters();
    new AdamW(list, { ...config, weight_decay: 0.5 }).update(gradients([0, 0], [0]), 0.1);
    [0.95, -1.9, 0.5].forEach((value, i) => {
      expect(values(list)[i]).toBeCloseTo(value, 6);
    });
    expect(takesDecay('model.layers.0.input_layernorm.weight')).toBe(false);
    expect(takesDecay('model.norm.weight')).toBe(false);
    expect(takesDecay('model.layers.0.self_attn.q_norm.weight')).toBe(false);
    expect(takesDecay('model.layers.0.mlp.up_proj.weight')).toBe(true);
  });

  it('clips by the global norm and reports the norm before', () => {
    const clipped = parameters();
    const scaled = parameters();
    const settings = { ...config, adam_epsilon: 1 };
    const report = new AdamW(clipped, { ...settings, max_grad_norm: 1 }).update(gradients([3, 0], [4]), 0.1);
    new AdamW(scaled, settings).update(gradients([0.6, 0], [0.8]), 0.1);
    expect(report).toEqual({ gradNorm: 5, applied: true });
    values(scaled).forEach((value, i) => {
      expect(values(clipped)[i]).toBeCloseTo(value, 6);
    });
  });

  it.each([
    [Number.NaN, Number.NaN],
    [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
    // Its square is beyond float32.
    [1e25, Number.POSITIVE_INFINITY],
    // Its square is below float32's largest, and twice that beyond.
    [1.5e19, Number.POSITIVE_INFINITY],
  ])('changes nothing when a gradient is %d', (number, gradNorm) => {
    for (const max_grad_norm of [0, 1]) {
      const list = parameters();
      const optimizer = new AdamW(list, { ...config, max_grad_norm });
      expect(optimizer.update(gradients([number, 0], [number]), 0.1)).toEqual({ gradNorm, applied: false });
      expect(values(list)).toEqual([1, -2, 0.5]);
      expect(optimizer.steps).toBe(0);
    }
  });

  it('continues from an exported state as if it had never stopped', async () => {
    const straight = parameters();
    const first = new AdamW(straight, config);
    first.update(gradients([1, 2], [3]), 0.1);
    const state = await first.exportState();
    expect(Object.keys(state).sort()).toEqual([
      'exp_avg.a.bias',
      'exp_avg.a.weight',
      'exp_avg_sq.a.bias',
      'exp_avg_sq.a.weight',
      'step',
    ]);
    // A copy: where updates are done in place, a clone's memory would be that of `straight`.
    const copied = (value: tf.Tensor): tf.Tensor => tf.tensor(value.dataSync().slice(), value.shape);
    const resumed: Parameter[] = straight.map(({ name, value }) => ({ name, value: copied(value) }));
    first.update(gradients([-1, 2], [0]), 0.1);
    const second = new AdamW(resumed, config);
    second.importState(state);
    second.update(gradients([-1, 2], [0]), 0.1);
    expect(values(resumed)).toEqual(values(straight));
    expect(second.steps).toBe(2);
  });

  it('rejects a state of other parameters', async () => {
    const optimizer = new AdamW(parameters(), config);
    expect(() => optimizer.importState({ step: Float32Array.of(1), 'exp_avg.a.weight': new Float32Array(3) })).toThrow(
      'Expected 2 values of "exp_avg.a.weight" in the optimiser state, got 3',
    );
    expect(() => optimizer.importState({})).toThrow('Expected 1 values of "step" in the optimiser state, got none');
    expect(optimizer.steps).toBe(0);
  });

  it('names a missing gradient and one of the wrong size', () => {
    const optimizer = new AdamW(parameters(), config);
    expect(() => optimizer.update({}, 0.1)).toThrow('Expected a gradient of "a.weight", got none');
    expect(() => optimizer.update(gradients([1], [1]), 0.1)).toThrow(
      'Expected the gradient of "a.weight" to be [2], got [1]',
    );
  });

  it('updates variables in their place and leaks nothing', () => {
    const start = tf.memory().numTensors;
    const weight = tf.variable(tf.tensor1d([1, -2]), true, 'optimizer-test-weight');
    const optimizer = new AdamW([{ name: 'a.weight', value: weight }], config);
    const grads = { 'a.weight': tf.tensor1d([1, 1]) };
    optimizer.update(grads, 0.1);
    const before = tf.memory().numTensors;
    for (let i = 0; i < 5; i++) optimizer.update(grads, 0.1);
    expect(tf.memory().numTensors).toBe(before);
    expect(weight.dataSync()[0]).toBeCloseTo(0.4, 5);
    optimizer.dispose();
    weight.dispose();
    grads['a.weight'].dispose();
    // tf.tensor1d within tf.variable is the one that the variable was made from.
    expect(tf.memory().numTensors).toBe(start + 1);
  });
});

describe.each(backends)('globalNorm and clipCoefficient on $name', (backend) => {
  beforeAll(backend.use);

  it('are torch.nn.utils.clip_grad_norm_', () => {
    expect(globalNorm([tf.tensor1d([3]), tf.tensor2d([[0, 4]])])).toBe(5);
    expect(globalNorm([])).toBe(0);
    expect(clipCoefficient(5, 1)).toBeCloseTo(1 / (5 + 1e-6), 12);
    expect(clipCoefficient(0.5, 1)).toBe(1);
    expect(clipCoefficient(5, 0)).toBe(1);
  });
});

describe.each(backends)('accumulateGradients on $name', (backend) => {
  beforeAll(backend.use);

  it('adds up and takes ownership of both summands', () => {
    const before = tf.memory().numTensors;
    const first = tf.tidy(() => accumulateGradients(null, gradients([1, 2], [3])));
    const sum = accumulateGradients(first, gradients([10, 20], [30]));
    expect([...(sum['a.weight']?.dataSync() ?? [])]).toEqual([11, 22]);
    expect(tf.memory().numTensors).toBe(before + 2);
    tf.dispose(sum);
  });

  it('names a gradient that the second micro-batch lacks', () => {
    expect(() => accumulateGradients({ x: tf.scalar(1) }, {})).toThrow('Expected a gradient of "x", got none');
  });
});

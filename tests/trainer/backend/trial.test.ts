import '@tensorflow/tfjs-backend-cpu';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { secondsOfTrial, trialShapes } from '../../../main/trainer/backend/trial.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';

const folder = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

describe('trialShapes', () => {
  it("are the model's own, and the usual ones where its folder can't be read", () => {
    expect(trialShapes(folder('resources/models/tiny'))).toMatchObject({ width: 128, decodingProducts: 24 });
    expect(trialShapes(folder('docs'))).toEqual(trialShapes(undefined));
    expect(trialShapes(undefined)).toMatchObject({ width: 1024, inner: 1024 });
  });

  it("have the run's rows and its weights' precision", () => {
    const tiny = folder('resources/models/tiny');
    const run = (changes: object) => trialShapes(tiny, parseConfig({ model: tiny, ...changes }));
    expect(run({ use_peft: false })).toMatchObject({ decodingRows: 128, trainingRows: 128, precision: 'float32' });
    const rows = { per_device_train_batch_size: 8, num_generations: 4, gradient_accumulation_steps: 3 };
    expect(run({ ...rows, max_completion_length: 30, use_peft: true })).toMatchObject({
      decodingRows: 24,
      trainingRows: 240,
      decodingProducts: 24,
      precision: 'stored',
    });
    expect(run({ use_peft: true, base_weights: 'nf4', max_completion_length: 30 })).toMatchObject({
      precision: 'nf4',
      trainingRows: 512,
    });
  });
});

const PLAIN = { precision: 'float32', type: 'F32' } as const;

describe('secondsOfTrial', () => {
  it('times a round and leaves nothing behind', async () => {
    await tf.setBackend('cpu');
    const before = tf.memory().numTensors;
    const shapes = {
      width: 8,
      inner: 16,
      trainingRows: 4,
      decodingRows: 2,
      decodingProducts: 4,
      type: 'BF16',
    } as const;
    for (const precision of ['float32', 'stored', 'int8', 'nf4'] as const)
      expect(secondsOfTrial({ ...shapes, precision }, 60)).toBeGreaterThan(0);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('is cut after its time, and leaves nothing behind then either', async () => {
    await tf.setBackend('cpu');
    const before = tf.memory().numTensors;
    const shapes = { width: 64, inner: 64, trainingRows: 64, decodingRows: 8, decodingProducts: 1_000_000, ...PLAIN };
    const began = performance.now();
    expect(secondsOfTrial(shapes, 60)).toBeGreaterThanOrEqual(0.06);
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(tf.memory().numTensors).toBe(before);
  });
});

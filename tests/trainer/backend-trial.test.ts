import '@tensorflow/tfjs-backend-cpu';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { secondsOfTrial, trialShapes } from '../../main/trainer/backend-trial.ts';

const folder = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

describe('trialShapes', () => {
  it("are the model's own, and the usual ones where its folder can't be read", () => {
    expect(trialShapes(folder('resources/models/tiny'))).toMatchObject({ width: 128, decodingProducts: 20 });
    expect(trialShapes(folder('docs'))).toEqual(trialShapes(undefined));
    expect(trialShapes(undefined)).toMatchObject({ width: 1024, inner: 1024 });
  });
});

describe('secondsOfTrial', () => {
  it('times a round and leaves nothing behind', async () => {
    await tf.setBackend('cpu');
    const before = tf.memory().numTensors;
    const shapes = { width: 8, inner: 16, trainingRows: 4, decodingRows: 2, decodingProducts: 4 };
    expect(secondsOfTrial(shapes)).toBeGreaterThan(0);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('is cut after its time, and leaves nothing behind then either', async () => {
    await tf.setBackend('cpu');
    const before = tf.memory().numTensors;
    const shapes = { width: 64, inner: 64, trainingRows: 64, decodingRows: 8, decodingProducts: 1_000_000 };
    const began = performance.now();
    expect(secondsOfTrial(shapes, 60)).toBeGreaterThanOrEqual(0.06);
    expect(performance.now() - began).toBeLessThan(3000);
    expect(tf.memory().numTensors).toBe(before);
  });
});

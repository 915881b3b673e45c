import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { expect, it } from 'vitest';
import '../../main/tensor/gradients.ts';
import { openRowStates, placesOf } from '../../main/model/sequences.ts';

it('copies states for rows one after the other, so that all of both are never there', async () => {
  await tf.setBackend('cpu');
  const width = 1000;
  const states = new Map(['0.0', '1.0', '2.0', '3.0'].map((key) => [key, tf.ones<tf.Rank.R2>([2, width])]));
  const before = tf.memory().numBytes;
  const { peakBytes } = await tf.profile(() => {
    const own = openRowStates(states, placesOf([5, 7]));
    expect(tf.memory().numBytes).toBe(before);
    expect(own.at(3, 0).shape).toEqual([2, width]);
    return tf.tidy(() => {
      own.dispose();
      return tf.scalar(0);
    });
  });
  // A state's copy, and what gathering it makes on the way.
  expect(peakBytes - before).toBeLessThan(3 * 2 * width * 4);
});

import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import type { TrainConfig } from '../../../main/trainer/config/config.ts';
import { openTiny, tinyRun } from './tiny-run.ts';

const { runtime, model } = await openTiny();

/** Tensors, and bytes of the wasm heap, that are in use. */
const inUse = () => ({ tensors: tf.memory().numTensors, bytes: runtime.heap.bytesInUse() });

const cases: readonly [string, Partial<TrainConfig>][] = [
  ['GRPO, LoRA', { gradient_accumulation_steps: 2 }],
  ['GRPO, all weights, KL, two iterations', { use_peft: false, beta: 0.1, num_iterations: 2 }],
  ['supervised', { method: 'sft', use_peft: false, gradient_accumulation_steps: 2 }],
];

describe.each(cases)('memory of a run: %s', (_, config) => {
  it('is the same after each of 200 steps, and as before once the run has ended', async () => {
    const before = inUse();
    const seen = new Set<string>();
    await tinyRun({
      model,
      config: { ...config, max_steps: 200, per_device_train_batch_size: 4, num_generations: 2 },
      onEvent: ({ kind }) => kind === 'step' && seen.add(JSON.stringify(inUse())),
    });
    expect([...seen]).toHaveLength(1);
    expect(inUse()).toEqual(before);
  });
});

describe('a step that fails', () => {
  it('leaves no tensor behind when its reward throws', async () => {
    const before = inUse();
    await expect(
      tinyRun({
        model,
        config: {},
        replace: ({ task }) => ({
          task: {
            ...task,
            score: () => {
              throw new Error('no reward today');
            },
          },
        }),
      }),
    ).rejects.toThrow('no reward today');
    expect(inUse()).toEqual(before);
  });
});

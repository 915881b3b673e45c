import { describe, expect, it } from 'vitest';
import { epochAfter, generationRecords, planBatches } from '../../../main/trainer/batching/batching.ts';
import { drawMore, drawPrompts, startOfPrompts } from '../../../main/trainer/batching/prompt-stream.ts';

/** Two groups per generation of five records, in order. */
const config = {
  num_generations: 2,
  pods_update_size: null,
  num_iterations: 1,
  steps_per_generation: null,
  gradient_accumulation_steps: 1,
  per_device_train_batch_size: 4,
  shuffle_dataset: false,
  seed: 42,
} as const;
const plan = planBatches(config, 5);
const sorted = (records: readonly number[]): number[] => [...records].sort((a, b) => a - b);

describe('drawPrompts', () => {
  it('draws those of the plan while nothing was drawn in addition', () => {
    const shuffled = planBatches({ ...config, shuffle_dataset: true }, 5);
    for (const generation of [0, 1, 7])
      expect(drawPrompts(shuffled, startOfPrompts, generation)).toEqual({
        records: generationRecords(shuffled, generation),
        state: startOfPrompts,
      });
  });
});

describe('drawMore', () => {
  it('draws the next prompts in order, and later generations continue after them', () => {
    expect(sorted(drawPrompts(plan, startOfPrompts, 0).records)).toEqual([0, 1]);
    const first = drawMore(plan, startOfPrompts, 0, 2);
    expect(first).toEqual({ records: [2, 3], state: { extra: 2 } });
    const second = drawMore(plan, first.state, 0, 1);
    expect(second).toEqual({ records: [4], state: { extra: 3 } });
    // The epoch is covered; the next one begins.
    expect(sorted(drawPrompts(plan, second.state, 1).records)).toEqual([0, 1]);
    expect(drawMore(plan, second.state, 1, 1)).toEqual({ records: [2], state: { extra: 4 } });
  });

  it('covers every record of a shuffled epoch, whatever is drawn in addition', () => {
    const shuffled = planBatches({ ...config, shuffle_dataset: true }, 5);
    const one = drawPrompts(shuffled, startOfPrompts, 0);
    const more = drawMore(shuffled, one.state, 0, 1);
    const two = drawPrompts(shuffled, more.state, 1);
    expect(sorted([...one.records, ...more.records, ...two.records])).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('epochAfter', () => {
  it('counts the prompts drawn in addition', () => {
    expect(epochAfter(plan, 0)).toBeCloseTo(0.4, 12);
    expect(epochAfter(plan, 0, 3)).toBeCloseTo(1, 12);
  });
});

import { describe, expect, it } from 'vitest';
import {
  type BatchConfig,
  beginsWithGeneration,
  epochAfter,
  generationRecords,
  microBatches,
  planBatches,
  stepsForEpochs,
} from '../../../main/trainer/batching/batching.ts';

const config: BatchConfig = {
  num_generations: 2,
  pods_update_size: null,
  greso_exploration: null,
  adarft_target_reward: null,
  adarft_sensitivity: 2,
  adarft_step_size: 2,
  num_iterations: 1,
  steps_per_generation: null,
  gradient_accumulation_steps: 1,
  per_device_train_batch_size: 4,
  shuffle_dataset: true,
  seed: 42,
};
const plan = (change: Partial<BatchConfig> = {}, records = 5) => planBatches({ ...config, ...change }, records);
const drawn = (p: ReturnType<typeof plan>, generations: number): number[] =>
  Array.from({ length: generations }, (_, g) => generationRecords(p, g)).flat();

describe('stepsForEpochs', () => {
  it('counts the prompts of a step for GRPO, its records for SFT, and ends with the last record', () => {
    const grpo = { ...config, method: 'grpo' } as const;
    // Two prompts a step of 10 records.
    expect(stepsForEpochs(grpo, 10, 1)).toBe(5);
    expect(stepsForEpochs(grpo, 10, 3)).toBe(15);
    expect(stepsForEpochs(grpo, 9, 1)).toBe(5);
    expect(stepsForEpochs(grpo, 10, 0.5)).toBe(3);
    // Each generation is passed over twice, so it serves two steps.
    expect(stepsForEpochs({ ...grpo, num_iterations: 2 }, 10, 1)).toBe(10);
    expect(stepsForEpochs({ ...config, method: 'sft' }, 10, 1)).toBe(3);
    expect(stepsForEpochs({ ...config, method: 'sft', gradient_accumulation_steps: 3 }, 36, 7)).toBe(21);
    expect(stepsForEpochs(grpo, 1, 0.1)).toBe(1);
    for (const records of [7, 49, 640])
      for (let epochs = 1; epochs <= 9; epochs++) {
        const steps = stepsForEpochs(grpo, records, epochs);
        expect(epochAfter(planBatches(grpo, records), steps - 1)).toBeGreaterThan(epochs - 1e-6);
        expect(epochAfter(planBatches(grpo, records), steps - 2)).toBeLessThan(epochs);
      }
  });
});

describe('planBatches', () => {
  it('generates once a step by default, and needs no old log-probabilities then', () => {
    expect(plan()).toMatchObject({ groupsPerGeneration: 2, microBatchesPerGeneration: 1, needsOldLogps: false });
    // steps_per_generation follows gradient_accumulation_steps.
    expect(plan({ gradient_accumulation_steps: 3 })).toMatchObject({
      groupsPerGeneration: 6,
      stepsPerGeneration: 3,
      needsOldLogps: false,
    });
  });

  it('counts what PODS trains on of each group, so that more prompts make a generation', () => {
    // Eight rows: two of each of four prompts, of four completions sampled.
    const pods = plan({ num_generations: 4, pods_update_size: 2, per_device_train_batch_size: 8 });
    expect(pods).toMatchObject({ groupSize: 2, groupsPerGeneration: 4, rowsPerMicroBatch: 8 });
  });

  it('needs old log-probabilities as soon as a generation outlives an optimiser step', () => {
    expect(plan({ num_iterations: 2 }).needsOldLogps).toBe(true);
    expect(plan({ steps_per_generation: 2 }).needsOldLogps).toBe(true);
    expect(plan({ steps_per_generation: 2, num_iterations: 2, gradient_accumulation_steps: 4 }).needsOldLogps).toBe(
      false,
    );
    expect(plan({ steps_per_generation: 2, gradient_accumulation_steps: 3 }).needsOldLogps).toBe(true);
  });

  it('rejects split groups and an empty dataset', () => {
    expect(() => plan({ num_generations: 3 })).toThrow('(4 completions) to be a multiple of num_generations (3)');
    expect(() => plan({}, 0)).toThrow('Expected at least one record to train on, got none');
  });
});

describe('microBatches', () => {
  it('cuts a generation into slices and passes over them num_iterations times', () => {
    const p = plan({ steps_per_generation: 2, num_iterations: 2 });
    const seen = [0, 1, 2, 3, 4].flatMap((step) => microBatches(p, step));
    expect(
      seen.map(({ generation, generate, iteration, firstRow, endRow }) => [
        generation,
        generate,
        iteration,
        firstRow,
        endRow,
      ]),
    ).toEqual([
      [0, true, 0, 0, 4],
      [0, false, 0, 4, 8],
      [0, false, 1, 0, 4],
      [0, false, 1, 4, 8],
      [1, true, 0, 0, 4],
    ]);
    expect([0, 1, 2, 3, 4].map((step) => beginsWithGeneration(p, step))).toEqual([true, false, false, false, true]);
  });

  it('may generate several times within one step', () => {
    const p = plan({ steps_per_generation: 1, gradient_accumulation_steps: 3 });
    expect(microBatches(p, 1).map(({ generation, generate }) => [generation, generate])).toEqual([
      [3, true],
      [4, true],
      [5, true],
    ]);
  });
});

describe('generationRecords', () => {
  it('uses every record once an epoch, each epoch in an order of its own', () => {
    const p = plan({ per_device_train_batch_size: 10 });
    const epochs = [0, 1, 2].map((g) => generationRecords(p, g));
    for (const epoch of epochs) expect([...epoch].sort()).toEqual([0, 1, 2, 3, 4]);
    expect(new Set(epochs.map(String)).size).toBeGreaterThan(1);
  });

  it('lets no record wait: batches run on over the end of an epoch', () => {
    const order = drawn(plan(), 5); // two epochs of five, two at a time
    expect([...order].sort()).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    expect([...order.slice(0, 4)].sort()).toEqual([...new Set(order.slice(0, 4))].sort());
  });

  it('depends on the seed and the generation alone', () => {
    const far = generationRecords(plan(), 7);
    drawn(plan({ seed: 1 }), 3);
    expect(generationRecords(plan(), 7)).toEqual(far);
    expect(drawn(plan({ seed: 43 }), 20)).not.toEqual(drawn(plan(), 20));
  });

  it('keeps the order of the file, but for groups within a batch, without shuffling', () => {
    const p = plan({ shuffle_dataset: false });
    expect([0, 1, 2].map((g) => [...generationRecords(p, g)].sort((a, b) => a - b))).toEqual([
      [0, 1],
      [2, 3],
      [0, 4],
    ]);
  });

  it('repeats records when a batch wants more than there are', () => {
    expect([...generationRecords(plan({ per_device_train_batch_size: 8 }, 2), 0)].sort()).toEqual([0, 0, 1, 1]);
  });
});

describe('epochAfter', () => {
  it('is the share of records prompted so far', () => {
    expect(epochAfter(plan(), 0)).toBeCloseTo(0.4, 12);
    expect(epochAfter(plan({ num_iterations: 2 }), 4)).toBeCloseTo(1, 12);
  });
});

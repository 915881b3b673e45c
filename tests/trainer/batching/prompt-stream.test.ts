import { describe, expect, it } from 'vitest';
import { epochAfter, generationRecords, planBatches } from '../../../main/trainer/batching/batching.ts';
import {
  drawingMetrics,
  drawMore,
  drawPrompts,
  type PromptState,
  skipProbability,
  startOfPrompts,
  withOutcomes,
} from '../../../main/trainer/batching/prompt-stream.ts';

/** Two groups per generation of five records, in order. */
const config = {
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
        skipped: 0,
        state: startOfPrompts,
      });
  });
});

describe('drawMore', () => {
  it('draws the next prompts in order, and later generations continue after them', () => {
    expect(sorted(drawPrompts(plan, startOfPrompts, 0).records)).toEqual([0, 1]);
    const first = drawMore(plan, startOfPrompts, 0, 2);
    expect(first).toMatchObject({ records: [2, 3], skipped: 0, state: { extra: 2 } });
    const second = drawMore(plan, first.state, 0, 1);
    expect(second).toMatchObject({ records: [4], state: { extra: 3 } });
    // The epoch is covered; the next one begins.
    expect(sorted(drawPrompts(plan, second.state, 1).records)).toEqual([0, 1]);
    expect(drawMore(plan, second.state, 1, 1)).toMatchObject({ records: [2], state: { extra: 4 } });
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

describe('skipProbability', () => {
  it('grows with the dead groups in a row, from 0', () => {
    expect([0, 1, 2, 3].map((z) => skipProbability(0.5, z))).toEqual([0, 0.5, 0.75, 0.875]);
    expect(skipProbability(0.8, 2)).toBeCloseTo(1 - 0.64, 12);
  });
});

describe('GRESO', () => {
  const greso = (exploration: number, records: number, seed = 42) =>
    planBatches({ ...config, seed, greso_exploration: exploration }, records);
  const dead = (pairs: [number, number][], extra = 0): PromptState => ({
    ...startOfPrompts,
    extra,
    deadInRow: new Map(pairs),
  });
  /** Of so many groups, those at these places are dead. */
  const scored = (groups: number, dead: readonly number[]) => ({
    rewards: new Float32Array(groups),
    groupStd: Float32Array.from({ length: groups }, (_, g) => (dead.includes(g) ? 0 : 1)),
  });

  it('counts dead groups in a row, and forgets them once a group has spread', () => {
    const plan = greso(0.5, 5);
    const one = withOutcomes(plan, startOfPrompts, [3, 1, 4], scored(3, [0, 2]));
    expect([...one.deadInRow]).toEqual([
      [3, 1],
      [4, 1],
    ]);
    // Record 3 twice in a generation, dead both times; 4 has spread; 1 is dead for the first time.
    const two = withOutcomes(plan, one, [3, 4, 3, 1], scored(4, [0, 2, 3]));
    expect([...two.deadInRow].sort()).toEqual([
      [1, 1],
      [3, 3],
    ]);
    expect([...one.deadInRow]).toHaveLength(2);
    expect(drawingMetrics(plan, { before: one, after: two }, { records: [3, 4], skipped: 7 })).toEqual({
      'greso/skipped': 7,
      'greso/dead_prompts': 0.4,
    });
  });

  it('learns nothing from a group whose completions all lack a score', () => {
    const plan = greso(0.5, 5);
    const result = {
      rewards: new Float32Array(3).fill(Number.NaN),
      groupStd: Float32Array.of(Number.NaN, Number.NaN, 0),
    };
    const after = withOutcomes(plan, dead([[3, 2]]), [3, 1, 4], result);
    expect([...after.deadInRow]).toEqual([
      [3, 2],
      [4, 1],
    ]);
  });

  it('skips nothing that has not been dead, and keeps no account where it is off', () => {
    const plan = greso(0.01, 5);
    expect(sorted(drawPrompts(plan, startOfPrompts, 0).records)).toEqual([0, 1]);
    const off = planBatches(config, 5);
    expect(withOutcomes(off, startOfPrompts, [0, 1], scored(2, [0, 1]))).toBe(startOfPrompts);
    expect(
      drawingMetrics(off, { before: startOfPrompts, after: startOfPrompts }, { records: [0, 1], skipped: 0 }),
    ).toEqual({});
    expect(drawPrompts(off, dead([[0, 9]]), 0).skipped).toBe(0);
  });

  it('draws the next prompts in place of those that are skipped', () => {
    // A chance of 1e-18 to draw records 0 and 2: they are skipped.
    const first = drawPrompts(
      greso(1e-6, 5),
      dead(
        [
          [0, 3],
          [2, 3],
        ],
        10,
      ),
      0,
    );
    expect(sorted(first.records)).toEqual([1, 3]);
    expect(first).toMatchObject({ skipped: 2, state: { extra: 12 } });
    // Record 4, then, past the end of the epoch and record 0, record 1.
    expect(drawMore(greso(1e-6, 5), first.state, 0, 2)).toMatchObject({
      records: [4, 1],
      skipped: 1,
      state: { extra: 15 },
    });
  });

  it('skips as often as the probability says', () => {
    const plan = greso(0.5, 1000);
    const state = dead(Array.from({ length: 1000 }, (_, i) => [i, 2]));
    // One of four is drawn: of 500 drawn, 1500 are skipped on average, with a standard deviation of 77.
    const { skipped } = drawMore(plan, state, 0, 500);
    expect(skipped).toBeGreaterThan(1250);
    expect(skipped).toBeLessThan(1750);
    expect(drawMore(plan, state, 0, 500).skipped).toBe(skipped);
    expect(drawMore(greso(0.5, 1000, 43), state, 0, 500).skipped).not.toBe(skipped);
  });

  it('never skips a whole epoch, so that a stage that is learned still ends its steps', () => {
    const all = dead([0, 1, 2, 3, 4].map((record) => [record, 1e6]));
    const drawn = drawPrompts(greso(0.5, 5), all, 0);
    expect(drawn.records).toHaveLength(2);
    expect(drawn.skipped).toBe(10);
  });
});

describe('AdaRFT', () => {
  // Three records of 4 words, two of 10.
  const words = [4, 10, 4, 10, 4];
  const following = { ...config, adarft_target_reward: 0.5 };
  const plan = planBatches(following, 5, words);
  const rewards = (...values: number[]) => ({ rewards: Float32Array.from(values), groupStd: new Float32Array(2) });
  const at = (targetDifficulty: number): PromptState => ({ ...startOfPrompts, targetDifficulty });

  it('refuses records that are all equally difficult, as without targets', () => {
    expect(() => planBatches(following, 3, [0, 0, 0])).toThrow(/reference completions, and the task has none/);
    expect(() => planBatches(following, 2, [10, 10])).toThrow(/all of them have 10 words/);
    expect(planBatches(config, 3, [0, 0, 0]).difficulty).toBeNull();
  });

  it('begins with the easiest records, and takes those nearest to the target', () => {
    const first = drawPrompts(plan, startOfPrompts, 0);
    expect(first.records.every((record) => words[record] === 4)).toBe(true);
    expect(first.state).toEqual(at(4));
    expect(sorted(drawPrompts(plan, at(9), 3).records)).toEqual([1, 3]);
    // Three easy records come before a hard one, and with more places than records all come again.
    const four = planBatches({ ...following, per_device_train_batch_size: 8 }, 5, words);
    expect(drawPrompts(four, at(4), 0).records.map((record) => words[record])).toEqual([4, 4, 4, 10]);
    const six = planBatches({ ...following, per_device_train_batch_size: 12 }, 5, words);
    expect(new Set(drawPrompts(six, at(4), 0).records).size).toBe(5);
  });

  it('takes other ones of the same difficulty in other generations, the same for the same seed', () => {
    const drawn = [0, 1, 2, 3, 4, 5].map((generation) => drawPrompts(plan, at(4), generation).records);
    expect(new Set(drawn.map((records) => sorted(records).join(' '))).size).toBeGreaterThan(1);
    expect(drawPrompts(plan, at(4), 3).records).toEqual(drawn[3]);
  });

  it('moves the target by the mean reward, within the difficulties that there are', () => {
    const targetAfter = (state: PromptState, ...values: number[]) =>
      withOutcomes(plan, state, [0, 2], rewards(...values));
    expect(targetAfter(at(6), 1, 0.8).targetDifficulty).toBeCloseTo(6 + 2 * Math.tanh(2 * (0.9 - 0.5)), 6);
    expect(targetAfter(at(6), 0.1, 0.2).targetDifficulty).toBeCloseTo(6 + 2 * Math.tanh(2 * (0.15 - 0.5)), 6);
    expect(targetAfter(at(9.5), 1, 1).targetDifficulty).toBe(10);
    expect(targetAfter(at(4), 0, 0).targetDifficulty).toBe(4);
    expect(targetAfter(at(6), Number.NaN, Number.NaN).targetDifficulty).toBe(6);
  });

  it('reports the target that it drew for, and what it drew', () => {
    const drawn = { records: [0, 1], skipped: 0 };
    expect(drawingMetrics(plan, { before: startOfPrompts, after: at(6) }, drawn)).toEqual({
      'adarft/target_difficulty': 4,
      'adarft/difficulty': 7,
    });
  });
});

import { describe, expect, it } from 'vitest';
import { startWatch, watchStep } from '../../main/trainer/monitor/collapse-watch.ts';
import { firstFlatVerdict, jumpSettings } from '../../scripts/story/settings.ts';
import { verdictOf } from '../../scripts/story/verdict.ts';

const warning = (step: number, rule: string) => ({ kind: 'warning', step, message: `${rule}!`, data: { rule } });

describe('verdictOf', () => {
  it("is the collapse watch's first warning, whatever else warns of the run", () => {
    const files = { kind: 'files', step: 1, message: 'completions.jsonl can’t be written', data: null };
    const events = [files, warning(2, 'component_silent'), warning(7, 'dead_groups'), warning(9, 'no_progress')];
    expect(verdictOf(events)).toBe('step 7: dead_groups!');
    expect(verdictOf([files])).toBeNull();
  });
});

/** The step after which the watch calls the reward flat; null: never. */
function warnedAt(maxSteps: number, reward: (step: number) => number): number | null {
  const settings = {
    patience: 5,
    numGenerations: 8,
    groupsPerGeneration: 1,
    numIterations: 1,
    temperature: 0.7,
    learningRate: 2e-4,
    beta: 0,
    maxSteps,
    highestReward: 1,
  };
  let state = startWatch();
  for (let step = 1; step <= maxSteps; step++) {
    const result = watchStep(state, { reward: reward(step), 'groups/dead': 0 }, settings);
    if (result.warnings.some(({ rule }) => rule === 'no_progress')) return step;
    state = result.state;
  }
  return null;
}

describe('the jumps of the story', () => {
  it('are long enough for a verdict on a reward that never rises, also with the noise of one group a step', () => {
    for (const words of [50, 100, 500]) {
      const { max_steps } = jumpSettings(words, 60);
      expect(warnedAt(max_steps, () => 0.5)).toBe(firstFlatVerdict({ max_steps, collapse_patience: 5 }));
      expect(warnedAt(max_steps, (step) => 0.5 + 0.015 * Math.sin(7 * step))).toBeLessThanOrEqual(max_steps);
    }
    expect(warnedAt(8, () => 0.5)).toBeNull();
  });

  it('have no more steps than a stage, and far ones a smaller group', () => {
    expect(jumpSettings(100, 60)).toEqual({ max_steps: 60 });
    expect(jumpSettings(500, 2)).toMatchObject({ max_steps: 2, per_device_train_batch_size: 8, num_generations: 8 });
  });
});

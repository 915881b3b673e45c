import { describe, expect, it } from 'vitest';
import { startAdvice } from '../../../main/services/training/start-advice.ts';
import { parseConfig, type TrainConfig } from '../../../main/trainer/config/config.ts';
import type { PreflightResult } from '../../../main/trainer/jobs/preflight.ts';
import { sampleOf } from '../../store/helpers.ts';

/** The advice on these rewards, group by group, of records that have targets. */
function adviceOn(
  rewards: readonly (readonly number[])[],
  config: Partial<TrainConfig> = {},
  { highestReward = 1, targets = 500 }: { readonly highestReward?: number | null; readonly targets?: number } = {},
) {
  const samples = rewards.flatMap((group, g) => group.map((reward, index) => sampleOf({ group: g, index, reward })));
  const result = { samples, highestReward, targets } as unknown as PreflightResult;
  return startAdvice(result, parseConfig(config));
}

/** As a pretrained model without the task: every completion gets a little, and none of them much. */
const lost = [
  [0.02, 0.06, 0.1, 0.04],
  [0.05, 0.12, 0.03, 0],
];
const learnable = [
  [0.2, 0.5],
  [0.3, 0.3],
];
const equal = [
  [0.3, 0.3],
  [0.4, 0.4],
  [0.2, 0.3],
];
const identical = equal.map(([reward = 0]) => [reward, reward]);

describe('startAdvice', () => {
  it('says to start where the rewards of a group differ', () => {
    expect(adviceOn(learnable)).toEqual({
      do: 'start',
      sentence: 'Start: rewards differ in 1 of 2 groups, and the mean reward is 0.325.',
      warm_up_steps: null,
      baseline: { reward: 0.325, spread: expect.closeTo(0.106, 3), groups: 2, differing: 1 },
    });
  });

  it('says to warm up first near a reward of 0, although rewards differ, unless a rare completion is right', () => {
    expect(adviceOn(lost)).toMatchObject({
      do: 'warm_up',
      warm_up_steps: 40,
      sentence:
        'Warm up first, by 40 supervised steps on the targets: the mean reward is 0.053, and none of 8 completions gets half of the maximum, so there is little to reinforce.',
    });
    const rare = Array.from({ length: 4 }, (_, g) => Array.from({ length: 16 }, (_, i) => (g < 2 && i === 0 ? 1 : 0)));
    expect(adviceOn(rare)?.do).toBe('start');
    // Few records would be learned by heart.
    expect(adviceOn(lost, {}, { targets: 20 })?.warm_up_steps).toBe(7);
  });

  it('says so too where all groups are dead, however high the mean', () => {
    expect(adviceOn(identical, {}, { highestReward: null })).toMatchObject({ do: 'warm_up', warm_up_steps: 40 });
    expect(adviceOn(equal)?.do).toBe('start');
    expect(adviceOn(identical, { method: 'polychromic-grpo' })?.do).toBe('start');
  });

  it('says to use an easier dataset without targets, or where a trained model gives no signal', () => {
    expect(adviceOn(lost, {}, { targets: 0 })).toMatchObject({
      do: 'easier_dataset',
      warm_up_steps: null,
      sentence: expect.stringContaining('no targets to warm up on'),
    });
    const jumped = { from_checkpoint: 'outputs/10-words/checkpoint-60' };
    expect(adviceOn(identical, jumped)?.do).toBe('easier_dataset');
    expect(adviceOn(identical)?.do).toBe('warm_up');
    expect(adviceOn(lost, jumped)?.do).toBe('warm_up');
  });

  it('says to start a run that has a warm-up, and to use a harder dataset where all is solved', () => {
    expect(adviceOn(lost, { warm_up_steps: 12 })).toMatchObject({
      do: 'start',
      sentence: expect.stringContaining('12 supervised steps on the targets come first'),
    });
    const solved = [
      [1, 1],
      [1, 1],
    ];
    expect(adviceOn(solved)?.do).toBe('harder_dataset');
  });

  it('has none where no reward has a number, and where all weigh 0', () => {
    expect(adviceOn([[Number.NaN, Number.NaN]])).toBeNull();
    expect(adviceOn([])).toBeNull();
    expect(adviceOn(lost, { reward_weights: [0] })).toBeNull();
  });
});

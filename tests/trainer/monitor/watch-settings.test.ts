import { describe, expect, it } from 'vitest';
import { highestReward } from '../../../main/trainer/monitor/watch-settings.ts';

const task = (highest: number | null, rewardWeights: readonly number[] | null) => ({
  highestReward: highest,
  rewardWeights,
  rewardNames: (rewardWeights ?? [1]).map((_, i) => `part ${i}`),
});

describe('highestReward', () => {
  it("is the task's with its own weights, and grows with multiples of them", () => {
    expect(highestReward(task(2, [2]), null)).toBe(2);
    expect(highestReward(task(2, [2]), [2])).toBe(2);
    expect(highestReward(task(2, [2]), [1])).toBe(1);
    expect(highestReward(task(1, null), [0.5])).toBe(0.5);
    expect(highestReward(task(1.25, [0.25, 1, -0.1]), [0.25, 1, -0.1])).toBe(1.25);
    expect(highestReward(task(1.5, [1, 0, 0.5]), [2, 0, 1])).toBe(3);
  });

  it('is unknown with other weights', () => {
    expect(highestReward(task(1.5, [1, 0.5]), [1, 1])).toBeNull();
    expect(highestReward(task(1, [1, 0]), [1, 1])).toBeNull();
    expect(highestReward(task(1, [1]), [-1])).toBeNull();
    expect(highestReward(task(1, [1]), [0])).toBeNull();
    expect(highestReward(task(null, [1]), [1])).toBeNull();
  });
});

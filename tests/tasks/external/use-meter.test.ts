import { describe, expect, it } from 'vitest';
import { openUseMeter } from '../../../main/tasks/external/use-meter.ts';

const plain = { cost: null, cached: null };

describe('openUseMeter', () => {
  it('sums time and cost over batches, shares failures, and starts again', () => {
    const meter = openUseMeter();
    meter.add(
      2,
      { a: { outcomes: [1, 'no'], seconds: 0.5, ...plain }, b: { outcomes: [1, 1], seconds: 2, cost: 3, cached: 1 } },
      0.1,
    );
    meter.add(
      2,
      { a: { outcomes: [1, 1], seconds: 0.5, ...plain }, b: { outcomes: ['x', 'x'], seconds: 1, cost: 1, cached: 0 } },
      0.2,
    );
    expect(meter.take()).toEqual({
      'time/reward/sandbox': expect.closeTo(0.3, 12),
      'time/reward/a': 1,
      'time/reward/b': 3,
      'reward_failures/a': 0.25,
      'reward_failures/b': 0.5,
      reward_cost: 4,
      'reward_cost/b': 4,
      'reward_cached/b': 1,
    });
    expect(meter.take()).toEqual({});
  });

  it('has no share of reward.ts where it gives no component, and no cost without a price', () => {
    const meter = openUseMeter();
    meter.add(1, { a: { outcomes: [1], seconds: 1, ...plain } }, null);
    expect(Object.keys(meter.take())).toEqual(['time/reward/a', 'reward_failures/a']);
  });
});

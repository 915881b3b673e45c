import { describe, expect, it } from 'vitest';
import { openTurnMeter } from '../../../main/trainer/monitor/turn-meter.ts';

describe('openTurnMeter', () => {
  it('gives the mean of a turn, the sum of the waits, and the speed of what the model wrote; nothing without turns', () => {
    const meter = openTurnMeter();
    meter.times.turn(1);
    meter.times.turn(2);
    meter.times.idle(0.5);
    meter.times.idle(0.25);
    meter.sampled([{ ids: [1, 2, 3, 4], toolMask: [1, 0, 0, 1], terminated: true }], 4);
    expect(meter.take()).toEqual({
      'environment/turn_seconds': 1.5,
      'environment/wait_seconds': 0.75,
      'environment/tokens_per_second': 0.5,
    });
    expect(meter.take()).toEqual({});
  });
});

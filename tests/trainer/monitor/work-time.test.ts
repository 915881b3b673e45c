import { describe, expect, it, onTestFinished } from 'vitest';
import { openPhases } from '../../../main/trainer/monitor/phases.ts';
import { openWorkTime } from '../../../main/trainer/monitor/work-time.ts';

describe('openWorkTime', () => {
  /** Seconds that count, after steps of so many seconds on the clock and of the processors. */
  function counted(steps: readonly (readonly [clock: number, used: number])[]): number {
    let [at, used] = [5000, 70];
    const time = openWorkTime(
      () => at,
      () => used,
    );
    onTestFinished(() => time.close());
    const began = time.now();
    const phases = openPhases(time.now);
    phases.time('loss', () => {
      for (const [seconds, work] of steps) {
        at += 1000 * seconds;
        used += 1000 * work;
        time.beat();
      }
    });
    const seconds = (time.now() - began) / 1000;
    expect(phases.take()).toEqual({ 'time/loss': seconds });
    return seconds;
  }

  it('leaves out a gap in which the processors did nothing', () => {
    expect(
      counted([
        [2, 4],
        [3600, 0.4],
        [2, 4],
      ]),
    ).toBe(4);
  });

  it('counts long work, and short waits', () => {
    expect(
      counted([
        [90, 85],
        [4, 0],
        [4, 0],
        [4, 0],
        [20, 0],
        [20, 0],
      ]),
    ).toBe(142);
  });
});

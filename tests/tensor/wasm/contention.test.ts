import { describe, expect, it } from 'vitest';
import { watchContention } from '../../../main/tensor/wasm/contention.ts';

/** Clocks that a test moves on: by itself, and by what the thread computed of it. */
function clocks() {
  let [now, computed] = [1000, 10];
  return {
    clocks: { now: () => now, computed: () => computed },
    pass(ms: number, share: number): void {
      now += ms;
      computed += share * ms;
    },
  };
}

describe('watchContention', () => {
  it('sees that a thread got much less than its time', () => {
    const { clocks: times, pass } = clocks();
    const isContended = watchContention(times);
    expect(isContended()).toBe(false);
    pass(120, 0.95);
    expect(isContended()).toBe(false);
    pass(120, 0.5);
    expect(isContended()).toBe(true);
    pass(120, 0.95);
    expect(isContended()).toBe(false);
  });

  it('judges by whole stretches, and keeps its answer in between', () => {
    const { clocks: times, pass } = clocks();
    const isContended = watchContention(times);
    for (let job = 0; job < 9; job++) {
      pass(10, 0.4);
      expect(isContended()).toBe(false);
    }
    pass(10, 0.4);
    expect(isContended()).toBe(true);
    pass(60, 1);
    expect(isContended()).toBe(true);
  });

  it('assumes that others want the core where Node has no such clock', () => {
    expect(watchContention(null)()).toBe(true);
  });

  it('reads this thread’s clocks: one that only waits looks contended', async () => {
    const isContended = watchContention();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(isContended()).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import { isTraining, shareDone } from '../../main/desktop/live.ts';
import type { LiveStatus } from '../../main/services/training/live-status.ts';

const run = (step: number, maxSteps: number, state: LiveStatus['state'] = 'running') =>
  ({ step, maxSteps, state }) as LiveStatus;

describe('shareDone', () => {
  it('counts the steps of all live runs', () => {
    expect(shareDone([])).toBeNull();
    expect(shareDone([run(0, 0)])).toBeNull();
    expect(shareDone([run(10, 40)])).toBe(0.25);
    expect(shareDone([run(10, 40), run(50, 80)])).toBe(0.5);
  });
});

describe('isTraining', () => {
  it('is true while any run computes', () => {
    expect(isTraining([])).toBe(false);
    expect(isTraining([run(1, 2, 'paused')])).toBe(false);
    expect(isTraining([run(1, 2, 'paused'), run(1, 2, 'stopping')])).toBe(true);
    expect(isTraining([run(0, 2, 'starting')])).toBe(true);
  });
});

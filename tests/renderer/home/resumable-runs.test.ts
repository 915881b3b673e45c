import { describe, expect, it } from 'vitest';
import { resumableRuns } from '../../../renderer/home/resumable-runs.ts';

const run = (id: number, state: 'stopped' | 'done' | 'interrupted', step = 3) => ({ id, state, step, maxSteps: 10 });

describe('resumableRuns', () => {
  it('offers the newest run if Ctrl-C stopped it, and every interrupted one', () => {
    const interrupted = [run(2, 'interrupted')];
    expect(resumableRuns(interrupted, [run(3, 'stopped'), run(2, 'interrupted')])).toEqual([
      run(3, 'stopped'),
      run(2, 'interrupted'),
    ]);
    expect(resumableRuns(interrupted, [run(4, 'done'), run(3, 'stopped')])).toEqual(interrupted);
    expect(resumableRuns([], [run(3, 'stopped', 10)])).toEqual([]);
    expect(resumableRuns([], [])).toEqual([]);
  });
});

import { describe, expect, it } from 'vitest';
import type { StageView } from '../../../main/api/contract/index.ts';
import { ladderTime } from '../../../renderer/curriculum/ladder-time.ts';

const stage = (id: number, timeLeft: StageView['timeLeft'], state: StageView['state'] = 'planned') => ({
  id,
  name: `${id}0 words`,
  state,
  timeLeft,
});
const exact = (seconds: number) => ({ low: seconds, high: seconds, basis: 'measured' }) as const;

describe('ladderTime', () => {
  it('adds up what is measured, with the estimate of the stage that trains', () => {
    expect(
      ladderTime([stage(1, exact(10), 'running'), stage(2, exact(3600))], [{ stageId: 1, secondsLeft: 600 }]),
    ).toEqual({
      time: 'About 70 min left',
      basis: 'Estimated from measured steps.',
    });
  });

  it('is a range where longer texts are estimated', () => {
    const scaled = { low: 3600, high: 9000, basis: 'scaled' } as const;
    expect(ladderTime([stage(1, null, 'done'), stage(2, exact(600)), stage(3, scaled)], [])).toEqual({
      time: '70 min to 2 h 40 min left',
      basis: 'One stage is estimated from the step times of other lengths.',
    });
  });

  it('plans with no range that is too wide for it', () => {
    expect(ladderTime([stage(1, { low: 660, high: 10_860, basis: 'scaled' })], [])).toEqual({
      time: 'At least 11 min left, still measuring',
      basis:
        'One stage is estimated from the step times of other lengths. Too uncertain to plan with before a longer stage has run or been checked.',
    });
  });

  it('says what it does not know', () => {
    expect(ladderTime([stage(1, exact(600)), stage(2, null), stage(3, null)], [])).toEqual({
      time: 'At least 10 min left',
      basis: 'Estimated from measured steps. Not known for 20 words, 30 words: a pre-flight check measures them.',
    });
    expect(ladderTime([stage(1, null)], [])).toMatchObject({ time: null });
    expect(ladderTime([stage(1, null, 'done'), stage(2, exact(5), 'unmet')], [])).toBeNull();
  });
});

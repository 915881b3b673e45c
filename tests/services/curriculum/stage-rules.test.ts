import { describe, expect, it } from 'vitest';
import { holdAfter, nextPlanned, stateAfter, withoutRun } from '../../../main/services/curriculum/stage-rules.ts';
import type { StageRow, StageState } from '../../../main/store/stages.ts';

function stage(id: number, state: StageState, datasetId: number | null = 1): StageRow {
  return {
    ...{ id, state, datasetId, name: `stage ${id}`, position: id, words: 2, steps: 5, promotion: null, config: {} },
    reason: null,
    queuedAt: null,
    startedAt: null,
    endedAt: null,
    metScore: null,
  };
}

describe('stateAfter', () => {
  const run = { state: 'done', step: 5, maxSteps: 9, reason: null } as const;
  const met = { unmet: null, endEarly: false };
  it.each([
    ['done', run, met, { state: 'done', reason: null }],
    ['done below its rule', run, { ...met, unmet: 'score 0.2' }, { state: 'unmet', reason: 'score 0.2' }],
    [
      'stopped by its rule',
      { ...run, state: 'stopped' } as const,
      { ...met, endEarly: true },
      { state: 'done', reason: null },
    ],
    [
      'stopped by the user',
      { ...run, state: 'stopped' } as const,
      met,
      { state: 'cancelled', reason: 'Stopped at step 5 of 9' },
    ],
    [
      'stopped by the user, its rule not met',
      { ...run, state: 'stopped' } as const,
      { unmet: 'score 0.2', endEarly: true },
      { state: 'cancelled', reason: 'Stopped at step 5 of 9' },
    ],
    [
      'failed',
      { ...run, state: 'failed', reason: 'the disk is full' } as const,
      met,
      { state: 'failed', reason: 'the disk is full' },
    ],
    [
      'collapsed without a word',
      { ...run, state: 'collapsed' } as const,
      met,
      { state: 'failed', reason: 'its run is collapsed' },
    ],
  ])('%s', (_, ended, rule, expected) => expect(stateAfter(ended, rule, false)).toEqual(expected));

  it('says where closing the app stopped it', () => {
    const { reason } = stateAfter({ ...run, state: 'stopped' }, met, true);
    expect(reason).toBe('Stopped at step 5 of 9, when Braid was closed');
  });
});

describe('holdAfter', () => {
  const [first, other] = [stage(1, 'running'), { stageId: 2, reason: 'by another' }];
  const failed = { stage: first, state: 'failed', reason: 'killed', waiting: 1, held: null } as const;
  const all = { stageId: 1, reason: 'not opened here before', all: true };
  it.each([
    ['a failure with stages behind it', failed, { stageId: 1, reason: '"stage 1": killed' }],
    ['a failure without a reason', { ...failed, reason: null }, { stageId: 1, reason: '"stage 1": failed' }],
    ['a failure with nothing behind it', { ...failed, waiting: 0, held: other }, other],
    ['success of the stage that had paused it', { ...failed, state: 'done', held: { ...other, stageId: 1 } }, null],
    ['success of another', { ...failed, state: 'done', held: other }, other],
    ['a failure while everything is held', { ...failed, held: all }, all],
    ['success of the stage that a hold on everything names', { ...failed, state: 'done', held: all }, all],
  ] as const)('%s', (_, settled, expected) => expect(holdAfter(settled)).toEqual(expected));
});

describe('nextPlanned', () => {
  it('is the first planned stage behind the one that is done', () => {
    const stages = [stage(1, 'planned'), stage(2, 'done'), stage(3, 'done'), stage(4, 'planned'), stage(5, 'planned')];
    expect(nextPlanned(stages, stage(2, 'done'))?.id).toBe(4);
  });

  it.each([
    ['the user has queued something', [stage(2, 'planned'), stage(3, 'queued')]],
    ['it has no dataset', [stage(2, 'planned', null), stage(3, 'planned')]],
    ['none is left', [stage(2, 'done')]],
    ['one in between missed its rule', [stage(2, 'unmet'), stage(3, 'planned')]],
  ])('is none where %s', (_, stages) => expect(nextPlanned(stages, stage(1, 'done'))).toBeUndefined());
});

it('finds stages that are marked running without a live run', () => {
  const stages = [stage(1, 'running'), stage(2, 'running'), stage(3, 'queued')];
  expect(withoutRun(stages, new Set([2, null])).map(({ id }) => id)).toEqual([1]);
});

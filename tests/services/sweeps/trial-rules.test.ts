import { describe, expect, it } from 'vitest';
import type { StoredPlan } from '../../../main/services/sweeps/plan.ts';
import {
  failuresInRow,
  MOST_ATTEMPTS,
  nextTrial,
  promote,
  settle,
  stopStep,
} from '../../../main/services/sweeps/trial-rules.ts';
import type { TrialRow, TrialState } from '../../../main/store/sweeps.ts';

function trial(id: number, state: TrialState, change: Partial<TrialRow> = {}): TrialRow {
  return {
    ...{ id, state, sweepId: 1, position: id, setting: id, seed: 42, name: `t${id}`, config: {}, afterId: null },
    runId: id,
    rung: 0,
    attempts: 1,
    reason: null,
    ...change,
  };
}

const plan: StoredPlan = { settings: [{}, {}, {}, {}], seeds: [42], rungs: [10, 20, 40], factor: 2 };

describe('stopStep', () => {
  it('is the end of the rung, and none for the last', () => {
    expect([0, 1, 2].map((rung) => stopStep(plan, rung))).toEqual([10, 20, null]);
    expect(stopStep({ ...plan, rungs: null }, 0)).toBeNull();
  });
});

describe('settle', () => {
  const run = { state: 'stopped', step: 7, maxSteps: 40, reason: null } as const;
  const around = { sweep: 'running', attempts: 1, scored: false, closing: false, killed: false } as const;
  const interrupted = { ...run, state: 'interrupted', reason: 'SIGKILL' } as const;

  it.each([
    ['done', { ...run, state: 'done' } as const, around, 'done', null],
    [
      'done before its rung was ranked',
      { ...run, state: 'done' } as const,
      { ...around, scored: true },
      'reached',
      null,
    ],
    ['stopped at its rung', run, { ...around, scored: true }, 'reached', null],
    ['stopped because the sweep pauses', run, { ...around, sweep: 'paused' } as const, 'waiting', null],
    ['stopped because the app closes', run, { ...around, closing: true }, 'waiting', null],
    ['stopped because the sweep is cancelled', run, { ...around, sweep: 'cancelled' } as const, 'cancelled', null],
    ['stopped by a person', run, around, 'waiting', 'A run was stopped at step 7 of 40'],
    ['killed by a person', interrupted, { ...around, killed: true }, 'waiting', 'A run was killed at step 7 of 40'],
    ['dead', interrupted, around, 'waiting', null],
    ['dead again and again', interrupted, { ...around, attempts: MOST_ATTEMPTS }, 'failed', null],
    ['failed', { ...run, state: 'failed', reason: 'disk' } as const, around, 'failed', null],
    ['collapsed', { ...run, state: 'collapsed' } as const, around, 'collapsed', null],
  ])('%s', (_, ended, where, state, pause) => expect(settle(ended, where)).toMatchObject({ state, pause }));

  it.each([
    ['is kept when its trainer died', interrupted, around, 3],
    ['is kept when the app died', interrupted, { ...around, closing: true }, 3],
    ['is 0 again when a person killed it', interrupted, { ...around, killed: true }, 0],
    ['is 0 again at the end of a rung', run, { ...around, scored: true }, 0],
    ['is 0 again when it was stopped', run, { ...around, sweep: 'paused' } as const, 0],
  ])('the number of attempts %s', (_, ended, where, attempts) =>
    expect(settle(ended, { ...where, attempts: 3 }).attempts).toBe(attempts),
  );
});

describe('nextTrial', () => {
  it('takes the lowest rung first, in order, once the run that it starts from is done', () => {
    const first = [trial(1, 'waiting', { rung: 1 }), trial(2, 'waiting'), trial(3, 'waiting')];
    expect(nextTrial(first).next?.id).toBe(2);
    const after = [trial(1, 'waiting'), trial(2, 'waiting', { afterId: 1 })];
    expect(nextTrial(after).next?.id).toBe(1);
    expect(nextTrial([trial(1, 'done'), trial(2, 'waiting', { afterId: 1 })]).next?.id).toBe(2);
  });

  it('names those whose start is lost', () => {
    const { next, doomed } = nextTrial([trial(1, 'failed'), trial(2, 'waiting', { afterId: 1 })]);
    expect([next, doomed.map(({ id }) => id)]).toEqual([null, [2]]);
  });
});

describe('promote', () => {
  const scores: Readonly<Record<number, number>> = { 0: 0.1, 1: 0.9, 2: 0.5, 3: 0.7 };
  const scoreAt = ({ setting }: TrialRow): number | null => scores[setting] ?? null;

  const unknown = (): null => null;

  it('continues the best half, with all of its seeds', () => {
    const trials = [0, 1, 2, 3].flatMap((setting) =>
      [42, 43].map((seed, i) => trial(setting * 2 + i, 'reached', { setting, seed })),
    );
    const { continuing, losing } = promote(plan, trials, scoreAt, unknown);
    expect([...new Set(continuing.map(({ setting }) => setting))]).toEqual([1, 3]);
    expect(continuing).toHaveLength(4);
    expect(losing).toHaveLength(4);
  });

  it('continues those of the higher training reward where scores are equal', () => {
    const trials = [0, 1, 2, 3].map((setting) => trial(setting, 'reached'));
    const rewardAt = ({ setting }: TrialRow): number => setting / 10;
    const { continuing } = promote(plan, trials, () => 0, rewardAt);
    expect(continuing.map(({ setting }) => setting)).toEqual([2, 3]);
  });

  it('counts a collapse with its score, and continues no collapsed run', () => {
    const trials = [
      trial(0, 'reached', { setting: 1 }),
      trial(1, 'collapsed', { setting: 1, seed: 43 }),
      trial(2, 'reached', { setting: 2 }),
      trial(3, 'reached', { setting: 0 }),
    ];
    const bySeed = ({ setting, seed }: TrialRow): number => (seed === 43 ? 0 : (scores[setting] ?? 0));
    // Setting 1 has (0.9 + 0) / 2 = 0.45, below setting 2.
    const two = { ...plan, settings: [{}, {}, {}] };
    expect(promote(two, trials, bySeed, unknown).continuing.map(({ id }) => id)).toEqual([2]);
  });

  it.each([
    ['promotes', 0.8, [3], []],
    ['eliminates', 0.4, [], [3]],
  ])('%s a retried trial by its place among all that had reached its rung before', (_, score, continuing, losing) => {
    // Two of four continue: 1 and 2 did, and have ended in higher rungs; 0 lost at once. 3 had failed.
    const trials = [
      trial(0, 'eliminated'),
      trial(1, 'done', { rung: 2 }),
      trial(2, 'eliminated', { rung: 1 }),
      trial(3, 'reached'),
    ];
    const first: Readonly<Record<number, number>> = { 0: 0.1, 1: 0.9, 2: 0.5, 3: score };
    // At the ends of their own rungs all scores differ from those that are compared.
    const atRung = ({ setting }: TrialRow, rung: number) => (rung === 0 ? (first[setting] ?? null) : 0);
    const closed = promote(plan, trials, atRung, unknown);
    expect([closed.continuing, closed.losing].map((own) => own.map(({ id }) => id))).toEqual([continuing, losing]);
  });

  it('closes the lowest reached rung first, and leaves the others for later', () => {
    const trials = [
      trial(0, 'eliminated'),
      trial(1, 'reached', { rung: 1 }),
      trial(2, 'reached', { rung: 1 }),
      trial(3, 'reached'),
    ];
    const rising = ({ setting }: TrialRow, rung: number) => (scores[setting] ?? 0) + rung;
    const { continuing, losing } = promote(plan, trials, rising, unknown);
    expect([continuing.map(({ id }) => id), losing]).toEqual([[3], []]);
    const next = promote(plan, [...trials.slice(0, 3), trial(3, 'reached', { rung: 1 })], rising, unknown);
    expect([next.continuing, next.losing].map((own) => own.map(({ id }) => id))).toEqual([[1], [2, 3]]);
  });

  it('ranks a retried seed with the seeds of its setting that have continued', () => {
    const seeds = [
      ...[42, 43].map((seed, i) => trial(i, i === 0 ? 'done' : 'reached', { setting: 0, seed, rung: i === 0 ? 2 : 0 })),
      ...[42, 43].map((seed, i) => trial(2 + i, 'eliminated', { setting: 1, seed })),
    ];
    const two = { ...plan, settings: [{}, {}] };
    const own = ({ id }: TrialRow): number => [0.9, 0.2, 0.5, 0.5][id] ?? 0;
    // (0.9 + 0.2) / 2 = 0.55, above 0.5.
    expect(promote(two, seeds, own, unknown).continuing.map(({ id }) => id)).toEqual([1]);
  });

  it('counts neither one that failed on its way to the rung nor one that collapsed below it', () => {
    const trials = [
      trial(0, 'reached', { rung: 1 }),
      trial(1, 'failed', { rung: 1 }),
      trial(2, 'collapsed'),
      trial(3, 'eliminated'),
    ];
    expect(promote(plan, trials, scoreAt, unknown).continuing.map(({ id }) => id)).toEqual([0]);
  });

  it('ends where nothing has reached its rung', () => {
    expect(promote(plan, [trial(0, 'done')], scoreAt, unknown)).toEqual({ continuing: [], losing: [] });
    expect(promote({ ...plan, rungs: null }, [trial(0, 'reached')], scoreAt, unknown)).toEqual({
      continuing: [],
      losing: [],
    });
  });
});

describe('failuresInRow', () => {
  const failed = [1, 2, 3].map((id) => trial(id, 'failed', { reason: 'no room' }));

  it('pauses after three while others wait', () => {
    expect(failuresInRow([...failed, trial(4, 'waiting', { attempts: 0 })])).toBe('3 runs in a row failed: no room');
    expect(failuresInRow(failed)).toBeNull();
    const refused = failed.map((one) => ({ ...one, runId: null }));
    expect(failuresInRow([...refused, trial(4, 'waiting')])).toBe('3 runs in a row failed: no room');
    const unstarted = refused.map((one) => ({ ...one, attempts: 0 }));
    expect(failuresInRow([...unstarted, trial(4, 'waiting')])).toBeNull();
    // Its attempts start at 0 again at the end of a rung.
    expect(
      failuresInRow([
        ...failed.slice(1),
        trial(4, 'reached', { attempts: 0 }),
        ...failed.slice(2),
        trial(5, 'waiting'),
      ]),
    ).toBeNull();
    expect(failuresInRow([...failed.slice(1), trial(4, 'done'), trial(5, 'waiting', { attempts: 0 })])).toBeNull();
  });
});

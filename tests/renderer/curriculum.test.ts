import { describe, expect, it } from 'vitest';
import type { Curriculum, StageView } from '../../main/services/curriculum/curriculum.ts';
import { formatValue, numberFrom, numbersFrom } from '../../renderer/components/config-form/entry.ts';
import { fieldSections } from '../../renderer/components/config-form/sections.ts';
import { ladderShape } from '../../renderer/curriculum/ladder-shape.ts';
import {
  loweredInWords,
  originInWords,
  primaryAction,
  primaryLabel,
  releaseLabel,
  ruleInShort,
  ruleInWords,
  runToResume,
  stateOf,
  waitsFor,
  worseInWords,
} from '../../renderer/curriculum/words.ts';
import { nextStep } from '../../renderer/home/next-step.ts';

const rule = { at_least: 0.9, evaluations: 2, hand_on: 'last', end_early: false } as const;

describe('worseInWords', () => {
  it('names the newest score where the best, which stands above it, is another', () => {
    const standing = { baseline: 0.125, newest: { step: 4, mean: 0.063 } } as NonNullable<StageView['standing']>;
    expect(worseInWords(standing, 0.2)).toBe('last 0.063, below the 0.125 before');
    expect(worseInWords(standing, 0.063)).toBe('below the 0.125 before');
  });
});

describe('loweredInWords', () => {
  it('names both rates as the form shows them', () => {
    expect(loweredInWords({ rate: 7e-5, preset: 2e-4 })).toMatch(
      /^The default learning_rate is 7e-5 here instead of the preset's 2e-4: /,
    );
  });
});

describe('ladderShape', () => {
  it('rises from left to right, with strands that swap sides at each rung', () => {
    const { rungs, links, width } = ladderShape(3, 100, 60);
    expect(rungs).toEqual([
      [50, 94],
      [150, 64],
      [250, 34],
    ]);
    expect(width).toBe(300);
    const above = (path: string): boolean => {
      const [, from = 0, , first = 0] = (path.match(/-?[\d.]+/g) ?? []).map(Number);
      return first < from;
    };
    expect(links.map(({ a, b }) => [above(a), above(b)])).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(ladderShape(1, 100, 60).links).toEqual([]);
  });
});

describe('words of a stage', () => {
  it('describe its rule, origin and state', () => {
    expect([ruleInWords(rule), ruleInShort(rule)]).toEqual(['held-out ≥ 0.90, 2 times in a row', 'needs ≥ 0.90 × 2']);
    expect(ruleInWords(null)).toBe('all steps are done');
    expect(originInWords({ kind: 'model', name: '/models/smollm' })).toBe('smollm');
    type Shown = Parameters<typeof stateOf>[0];
    const run = (state: string) => ({ state: 'failed', run: { state }, metScore: null }) as Shown;
    const paused = { state: 'running', run: { state: 'paused' }, metScore: null } as Shown;
    expect(stateOf(paused)).toBe('paused');
    expect([stateOf(run('interrupted')), stateOf({ state: 'failed', run: null, metScore: null })]).toEqual([
      'interrupted',
      'failed',
    ]);
    expect(stateOf({ ...run('stopped'), state: 'done', metScore: 0.97 })).toBe('met without training');
  });
});

describe('primaryLabel', () => {
  it('names the action for its button and its key', () => {
    const actions = [
      { kind: 'open', runId: 7 },
      { kind: 'resume', runId: 7, step: 5 },
      { kind: 'next', stageId: 2, name: 'stage 2' },
      { kind: 'start' },
    ] as const;
    expect(actions.map(primaryLabel)).toEqual(['Open the run', 'Resume', 'Start stage 2', 'Start stage']);
  });
});

describe('releaseLabel', () => {
  it('has a button also where only free runs or sweeps wait', () => {
    expect(releaseLabel('stage 2', 7)).toBe('Start stage 2 anyway');
    expect(releaseLabel(undefined, 7)).toBeNull();
    expect(releaseLabel(undefined, null)).toBe('Continue the queue');
  });
});

describe('primaryAction', () => {
  const stage = (id: number, state: string, run: object | null = null, dataset: object | null = {}) =>
    ({ id, position: id, name: `stage ${id}`, state, run, dataset, metScore: null }) as unknown as StageView;
  const run = (state: string, step = 5) => ({ id: 7, state, step, maxSteps: 10 });
  const next = stage(2, 'planned');

  it('resumes what ended early instead of starting it again', () => {
    const action = { kind: 'resume', runId: 7, step: 5 };
    expect(primaryAction([next], stage(1, 'failed', run('interrupted')))).toEqual(action);
    expect(primaryAction([next], stage(1, 'cancelled', run('stopped')))).toEqual(action);
    expect(primaryAction([next], stage(1, 'failed', run('collapsed')))).toEqual({ kind: 'start' });
    expect(primaryAction([next], stage(1, 'unmet', run('done', 10)))).toEqual({ kind: 'start' });
  });

  it('continues with the next stage after one that is done, and opens the run of one that trains', () => {
    const done = stage(1, 'done', run('done', 10));
    expect(primaryAction([done, next], done)).toEqual({ kind: 'next', stageId: 2, name: 'stage 2' });
    expect(primaryAction([done], done)).toEqual({ kind: 'start' });
    expect(primaryAction([done, stage(2, 'planned', null, null)], done)).toEqual({ kind: 'start' });
    expect(primaryAction([], stage(1, 'running', run('running')))).toEqual({ kind: 'open', runId: 7 });
  });
});

describe('a stage that has not begun', () => {
  const stage = (position: number, state: string, config: object = {}) =>
    ({ position, state, config, run: state === 'planned' ? null : {} }) as unknown as StageView;

  it('waits for the previous stage to be trained, unless it names its own checkpoint', () => {
    const [first, second, own] = [
      stage(0, 'running'),
      stage(1, 'planned'),
      stage(1, 'planned', { from_checkpoint: 'x' }),
    ];
    expect([waitsFor([first, second], second), waitsFor([first, own], own)]).toEqual([first, null]);
    expect([waitsFor([stage(0, 'done'), second], second), waitsFor([first], first)]).toEqual([null, null]);
  });

  it('waits for no stage that the queue starts later, or not at all', () => {
    const queued = (position: number, queuedAt: number) => ({ ...stage(position, 'queued'), run: null, queuedAt });
    const [first, second] = [stage(0, 'running'), queued(1, 20)];
    const [ahead, behind] = [queued(2, 10), queued(2, 30)];
    expect(waitsFor([first, second, ahead], ahead)).toBe(first);
    expect(waitsFor([first, second, behind], behind)).toBe(second);
    const unqueued = stage(1, 'planned');
    expect(waitsFor([stage(0, 'done'), unqueued, behind], behind)).toBeNull();
  });
});

describe('runToResume', () => {
  it('is the run that ended before its last step', () => {
    const run = (state: string, step: number) =>
      ({ run: { id: 7, state, step, maxSteps: 9 }, metScore: null }) as Pick<StageView, 'run' | 'metScore'>;
    const none = { run: null, metScore: null };
    const met = { ...run('stopped', 0), metScore: 0.97 };
    const runs = [run('stopped', 3), run('interrupted', 3), run('done', 9), run('running', 3), none, met];
    expect(runs.map(runToResume)).toEqual([7, 7, null, null, null, null]);
  });
});

describe('nextStep', () => {
  const stage = (id: number, state: string, more: object = {}) =>
    ({ id, name: `stage ${id}`, state, reason: null, dataset: {}, ...more }) as unknown as StageView;
  const curriculum = (...stages: StageView[]): Curriculum => ({
    stages,
    queue: [],
    held: null,
    heldFor: null,
    autoPromote: false,
    newStage: { steps: 40, promotion: { at_least: 0.9, evaluations: 2, hand_on: 'last', end_early: false } },
  });

  it('suggests the demo to a new user, and to everyone else what is left', () => {
    expect(nextStep(curriculum(), false)).toEqual({ kind: 'demo' });
    expect(nextStep(curriculum(), true)).toEqual({ kind: 'plan' });
    expect(nextStep({ ...curriculum(), held: 'It waits' }, true)).toEqual({ kind: 'held' });
    expect(nextStep(curriculum(stage(1, 'planned')), false)).toEqual({ kind: 'demo' });
    expect(nextStep(curriculum(stage(1, 'done'), stage(2, 'planned')), true)).toMatchObject({ stageId: 2, why: '' });
    expect(nextStep(curriculum(stage(1, 'unmet', { reason: 'Too low' })), true)).toMatchObject({ why: 'Too low' });
    expect(nextStep(curriculum(stage(1, 'done')), true)).toEqual({ kind: 'done', stages: 1 });
    expect(nextStep({ ...curriculum(stage(1, 'failed')), held: 'killed' }, true)).toEqual({ kind: 'held' });
  });

  it('is null while a stage is training or queued', () => {
    expect(nextStep(curriculum(stage(1, 'running')), true)).toBeNull();
    expect(nextStep({ ...curriculum(stage(1, 'queued')), queue: [1] }, true)).toBeNull();
  });
});

describe('entries of the configuration form', () => {
  it('accept numbers as people type them, and leave the rest to validation', () => {
    expect(['1e-6', '0,5', ' 12 ', 'x', ''].map((text) => numberFrom(text, false))).toEqual([1e-6, 0.5, 12, 'x', '']);
    expect(['1,000', '12,000,000', '0,125', '1,5'].map((text) => numberFrom(text, false))).toEqual([
      ...['1,000', '12,000,000'],
      ...[0.125, 1.5],
    ]);
    expect(numberFrom('', true)).toBeNull();
    expect([numbersFrom('1, 0.5', true), numbersFrom(' ', true), numbersFrom('', false)]).toEqual([[1, 0.5], null, []]);
    expect([formatValue(1e-6), formatValue(null), formatValue(false), formatValue([1, 2])]).toEqual([
      '1e-6',
      'none',
      'no',
      '1, 2',
    ]);
  });

  it('are grouped under headings, important ones first; changes and errors expand theirs', () => {
    const field = (name: string, group: string, important = false) =>
      ({ name, group, important, doc: `About ${name}` }) as never;
    const fields = [
      field('seed', 'Trained'),
      field('beta', 'Loss', true),
      field('delta', 'Loss'),
      field('task', 'Trained'),
    ];
    const choice = { search: '', elsewhere: { task: '' }, own: {}, onlyChanged: false, faults: [] };
    const titles = (more: object) =>
      fieldSections(fields, { ...choice, ...more }).map(({ title, open, rows }) => [title, open, rows.length]);
    expect(titles({})).toEqual([
      ['Essentials', true, 1],
      ['Trained', false, 1],
      ['Loss', false, 1],
    ]);
    expect(titles({ own: { seed: 1 }, faults: [{ field: 'delta', message: '', remedy: null }] })).toEqual([
      ['Essentials', true, 1],
      ['Trained', true, 1],
      ['Loss', true, 1],
    ]);
    expect(titles({ own: { seed: 1 }, onlyChanged: true })).toEqual([['Trained', true, 1]]);
    expect(titles({ search: 'DELTA' })).toEqual([['Loss', true, 1]]);
  });
});

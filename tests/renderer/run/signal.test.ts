import { describe, expect, it } from 'vitest';
import { outcomeSeries, promptWords, savingWords } from '../../../renderer/run/signal.ts';

describe('outcomeSeries', () => {
  it('has a point at the end of each part of the run', () => {
    const bins = [{ from: 1, to: 3, teaches: 0.5, solved: 0.25, dead: 0.25 }];
    expect(outcomeSeries({ bins }).map(({ label, x, y }) => [label, x, y])).toEqual([
      ['teaches', [3], [0.5]],
      ['learned', [3], [0.25]],
      ['dead', [3], [0.25]],
    ]);
  });
});

describe('promptWords', () => {
  it('agrees in number', () => {
    expect(promptWords({ prompts: { teaches: 1, solved: 200, dead: 0 }, groups: 1440 })).toBe(
      '201 prompts sampled in 1,440 groups. By the last group of each, 1 still teaches, 200 are learned and 0 are dead.',
    );
  });
});

describe('savingWords', () => {
  const known = { setting: 'dynamic_sampling', isUsed: false, conflict: null, seconds: null, unknown: null } as const;

  it('says what was saved or lost, and nothing of what is within the noise', () => {
    expect(savingWords({ ...known, seconds: 20 }, 80)).toBe(
      'Would have saved about 20 s (25%) for as many groups that teach.',
    );
    expect(savingWords({ ...known, seconds: -20 }, 80)).toBe(
      'Would have cost about 20 s (25%) more for as many groups that teach.',
    );
    expect(savingWords({ ...known, setting: 'pods_update_size', seconds: 20 }, 80)).toMatch(/in as many steps\.$/);
    expect(savingWords({ ...known, seconds: 0.5 }, 80)).toBe('Would have changed hardly anything.');
  });

  it('says why there is no figure', () => {
    expect(savingWords({ ...known, isUsed: true }, 80)).toBe('In use.');
    expect(savingWords({ ...known, conflict: 'adarft_target_reward' }, 80)).toBe(
      'Not possible beside adarft_target_reward, which this run sets.',
    );
    expect(savingWords({ ...known, unknown: 'no_signal' }, 80)).toMatch(/^Not known: no group/);
    expect(savingWords({ ...known, unknown: 'changes_update' }, 80)).toMatch(/^Can’t be known .* changes what a group/);
    expect(savingWords({ ...known, unknown: 'negative_rewards' }, 80)).toMatch(
      /^Not possible: some rewards .* below 0/,
    );
    expect(savingWords({ ...known, unknown: 'no_records' }, 80)).toMatch(/^Can’t be known .* dataset/);
    expect(savingWords({ ...known, unknown: 'not_sampled' }, 80)).toMatch(/^Can’t be known .* hadn’t sampled/);
    expect(savingWords({ ...known, unknown: 'one_length' }, 80)).toMatch(/^Nothing to choose from/);
  });
});

import { describe, expect, it } from 'vitest';
import type { SettingRow } from '../../../main/api/contract/index.ts';
import {
  behindInWords,
  estimateInWords,
  leaderInWords,
  meanInWords,
  progressInWords,
  shapeInWords,
  stepList,
  trialLines,
  verdictInWords,
} from '../../../renderer/experiments/words.ts';

const lead = { difference: { mean: 0.05, low: 0.01, high: 0.09 }, paired: true, p: 0.01, pCorrected: 0.02 };
const row = (change: Partial<SettingRow>): SettingRow => ({
  ...{
    setting: 0,
    values: { beta: 0 },
    label: 'beta 0',
    trials: [],
    stoppedAt: null,
    behind: null,
    leads: false,
    tied: false,
  },
  best: false,
  passRates: [],
  n: 3,
  mean: 0.9,
  interval: { mean: 0.9, low: 0.88, high: 0.92 },
  ...change,
});

describe('a sweep in words', () => {
  it('has its shape, progress and estimate', () => {
    expect(shapeInWords({ settings: 4, fields: ['beta'], seeds: [1] })).toBe('4 settings × 1 seed');
    expect(shapeInWords({ settings: 4, fields: ['method'], seeds: [1, 2] })).toBe('4 methods × 2 seeds');
    expect(shapeInWords({ settings: 8, fields: ['method', 'beta'], seeds: [1, 2] })).toBe('8 settings × 2 seeds');
    expect([stepList([30]), stepList([30, 90])]).toEqual(['step 30', 'steps 30, 90']);
    expect(progressInWords({ over: 3000, runs: 12_000, failed: 1 })).toBe('3,000 of 12,000 runs, 1 failed');
    const estimate = { runs: 12, steps: 720, seconds: 840, diskBytes: 2 ** 20, memoryBytes: 2 ** 30 };
    expect(estimateInWords({ ...estimate, measured: 1, kinds: 1 })).toBe(
      '12 runs, 720 steps: about 14 min, 1.0 MiB on disk, 1.0 GiB of memory',
    );
  });

  it('has a mean with its interval, and the distance from the leader', () => {
    expect(meanInWords(row({}))).toBe('0.900 ± 0.020');
    expect(meanInWords(row({ interval: null }))).toBe('0.900');
    expect(meanInWords(row({ mean: null, interval: null }))).toBe('–');
    const leader = { values: { beta: 0 }, label: 'beta 0', n: 3, mean: 0.9, interval: null, tied: 1 };
    expect([leaderInWords(null), leaderInWords(leader), leaderInWords({ ...leader, tied: 2 })]).toEqual([
      ...['–', 'beta 0: 0.900', '2 settings: 0.900'],
    ]);
    expect(behindInWords(row({ behind: { ...lead, significant: true } }))).toBe('0.050, p = 0.020');
    expect(behindInWords(row({ behind: { ...lead, pCorrected: 1e-5, significant: true } }))).toBe('0.050, p < 0.001');
    expect([behindInWords(row({ leads: true })), behindInWords(row({ leads: true, best: true }))]).toEqual([
      'leads',
      'best',
    ]);
  });
});

describe('verdictInWords', () => {
  const leader = row({ leads: true });

  it('names a best setting only if it is one', () => {
    const clear = row({ setting: 1, behind: { ...lead, significant: true } });
    const close = row({ setting: 2, behind: { ...lead, significant: false } });
    expect(verdictInWords([{ ...leader, best: true }, clear])).toMatch(/^beta 0 is best: significantly better/);
    expect(verdictInWords([leader, clear, close])).toMatch(/could be equal to one other setting: add seeds/);
    expect(verdictInWords([leader, row({})])).toMatch(/one seed a setting can't show/);
    const level = row({ setting: 3, label: 'beta 1', tied: true });
    const first = { ...leader, tied: true };
    expect(behindInWords(first)).toBe('tied');
    expect(verdictInWords([first, level])).toBe('All 2 settings have the same mean, 0.900.');
    expect(verdictInWords([first, level, close])).toBe('beta 0 and beta 1 share the highest mean, 0.900.');
    expect([verdictInWords([leader]), verdictInWords([row({}), row({})])]).toEqual([null, null]);
  });
});

describe('trialLines', () => {
  it('has a line for each run with the values of its setting', () => {
    const trial = { id: 1, seed: 42, name: 'a', runId: 7, rung: 0, reason: null, state: 'done' } as const;
    const scored = {
      ...trial,
      run: { state: 'done', step: 60, maxSteps: 60 } as const,
      score: { kind: 'held-out', step: 60, value: 0.91 } as const,
    };
    const [head, line] = trialLines(['beta'], [row({ trials: [scored] })]);
    expect(head?.slice(0, 6)).toEqual(['beta', 'seed', 'run', 'state', 'step', 'score']);
    expect(line).toEqual([0, 42, 7, 'done', 60, 0.91, 0.9, 0.88, 0.92]);
  });
});

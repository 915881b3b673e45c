import { describe, expect, it } from 'vitest';
import { silenceToTell } from '../../../main/services/training/live-status.ts';

describe('silenceToTell', () => {
  it('reports a run that is silent for long', () => {
    expect(silenceToTell({ state: 'running', secondsPerStep: 0.5 }, 25_000)).toBeNull();
    expect(silenceToTell({ state: 'running', secondsPerStep: 0.5 }, 45_000)).toBe(45);
    expect(silenceToTell({ state: 'paused', secondsPerStep: 0.5 }, 45_000)).toBe(45);
  });

  it('allows slow steps their time', () => {
    const slow = { state: 'running', secondsPerStep: 100 } as const;
    expect(silenceToTell(slow, 299_000)).toBeNull();
    expect(silenceToTell(slow, 300_000)).toBe(300);
  });

  it('reports nothing before the usual pace is known', () => {
    expect(silenceToTell({ state: 'starting', secondsPerStep: null }, 500_000)).toBeNull();
    expect(silenceToTell({ state: 'running', secondsPerStep: null }, 500_000)).toBeNull();
    expect(silenceToTell({ state: 'ending', secondsPerStep: 0.5 }, 500_000)).toBeNull();
  });
});

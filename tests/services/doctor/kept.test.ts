import { describe, expect, it } from 'vitest';
import type { Check } from '../../../main/services/doctor/check.ts';
import { cachedReport, cacheReport } from '../../../main/services/doctor/kept.ts';
import { temporaryStore } from '../../store/helpers.ts';

const checks: readonly Check[] = [
  { name: 'GPU', status: 'WARN', detail: 'none', next: 'Set one up.' },
  { name: 'Browser', status: 'OK', detail: '/usr/bin/firefox', next: null, isOpening: true },
];
const HOUR = 3_600_000;

describe('what the doctor found', () => {
  it('is kept for a day', () => {
    const store = temporaryStore();
    expect(cachedReport(store, '0.1.0')).toBeNull();
    cacheReport(store, { checks, at: HOUR }, '0.1.0');
    expect(cachedReport(store, '0.1.0', 24 * HOUR)).toEqual({ checks, at: HOUR });
    expect(cachedReport(store, '0.1.0', 26 * HOUR)).toBeNull();
  });

  it('is not used for another version, nor if it is not a list of checks', () => {
    const store = temporaryStore();
    cacheReport(store, { checks, at: 0 }, '0.1.0');
    expect(cachedReport(store, '0.2.0', HOUR)).toBeNull();
    store.settings.set('doctor', { checks: 'all well' });
    expect(cachedReport(store, '0.1.0', HOUR)).toBeNull();
  });

  it('is silently dropped when the disk is full', () => {
    const full = () => {
      throw new Error('disk full');
    };
    const { settings } = temporaryStore();
    expect(() => cacheReport({ settings: { ...settings, set: full } }, { checks, at: 0 }, '0.1.0')).not.toThrow();
  });
});

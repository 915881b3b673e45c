import { describe, expect, it } from 'vitest';
import type { Check } from '../../../main/services/doctor/check.ts';
import { keepExamined, keptExamined } from '../../../main/services/doctor/kept.ts';
import { temporaryStore } from '../../store/helpers.ts';

const checks: readonly Check[] = [{ name: 'GPU', status: 'WARN', detail: 'none', next: 'Set one up.' }];
const HOUR = 3_600_000;

describe('what the doctor found', () => {
  it('is kept for a day', () => {
    const store = temporaryStore();
    expect(keptExamined(store, '0.1.0')).toBeNull();
    keepExamined(store, { checks, at: HOUR }, '0.1.0');
    expect(keptExamined(store, '0.1.0', 24 * HOUR)).toEqual({ checks, at: HOUR });
    expect(keptExamined(store, '0.1.0', 26 * HOUR)).toBeNull();
  });

  it('is not taken for what another version finds, nor for what is no list of checks', () => {
    const store = temporaryStore();
    keepExamined(store, { checks, at: 0 }, '0.1.0');
    expect(keptExamined(store, '0.2.0', HOUR)).toBeNull();
    store.settings.set('doctor', { checks: 'all well' });
    expect(keptExamined(store, '0.1.0', HOUR)).toBeNull();
  });

  it('is lost without a word where the disk takes nothing', () => {
    const full = () => {
      throw new Error('disk full');
    };
    const { settings } = temporaryStore();
    expect(() => keepExamined({ settings: { ...settings, set: full } }, { checks, at: 0 }, '0.1.0')).not.toThrow();
  });
});

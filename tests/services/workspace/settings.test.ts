import { describe, expect, it } from 'vitest';
import {
  changeSettings,
  readSettings,
  settingsChangeSchema,
  settingsSchema,
} from '../../../main/services/workspace/settings.ts';
import { errorOf, temporaryStore } from '../../store/helpers.ts';

describe('settings', () => {
  it('has a default and a line of documentation for each', () => {
    const store = temporaryStore();
    expect(readSettings(store)).toMatchObject({ theme: 'system', concurrent_runs: 1, hang_minutes: 10 });
    for (const field of Object.values(settingsSchema.shape)) expect(field.meta()?.doc).toMatch(/\.$/);
  });

  it('changes some and keeps the rest', () => {
    const store = temporaryStore();
    changeSettings(store, { theme: 'dark' });
    expect(changeSettings(store, { smoothing: 0.2 })).toMatchObject({ theme: 'dark', smoothing: 0.2 });
    expect(readSettings(store)).toMatchObject({ theme: 'dark', smoothing: 0.2 });
  });

  it("leaves settings out of a page's change that the page left out", () => {
    expect(settingsChangeSchema.parse({ theme: 'light' })).toEqual({ theme: 'light' });
    expect(settingsChangeSchema.safeParse({ smoothing: 2 }).success).toBe(false);
    expect(settingsChangeSchema.safeParse({ sepia: true }).success).toBe(false);
  });

  it('rejects what makes no sense and passes over what another version stored', () => {
    const store = temporaryStore();
    expect(errorOf(() => changeSettings(store, { smoothing: 2 }))).toMatchObject({
      code: 'BAD_SETTING',
      kind: 'input',
      message: expect.stringContaining('smoothing'),
    });
    store.settings.set('preferences', { theme: 'sepia', concurrent_runs: 3, later: true });
    expect(readSettings(store)).toMatchObject({ theme: 'system', concurrent_runs: 3 });
  });
});

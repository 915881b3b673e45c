import { describe, expect, it } from 'vitest';
import { checkBrowser, checkElectron } from '../../../main/services/doctor/desktop.ts';
import { shownChecks } from '../../../renderer/settings/report.ts';

describe('shownChecks', () => {
  it('leaves out how the app can be opened, whatever those checks are called', () => {
    const gpu = { name: 'GPU', status: 'WARN', detail: 'none', next: 'Set one up.' } as const;
    const named = { ...gpu, name: 'Electron' };
    const opening = { ...gpu, name: 'Window', isOpening: true };
    const found = [gpu, named, opening, checkElectron(null), checkBrowser('/nowhere')];
    expect(shownChecks(found)).toEqual([gpu, named]);
  });
});

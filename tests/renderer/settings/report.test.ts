import { describe, expect, it } from 'vitest';
import type { Check } from '../../../main/services/doctor/doctor.ts';
import { reportOf, verdictOf } from '../../../renderer/settings/report.ts';

const ok: Check = { name: 'Node', status: 'OK', detail: '24', next: null };
const warn: Check = { name: 'GPU', status: 'WARN', detail: 'none', next: 'Set one up.' };
const fail: Check = { name: 'Disk', status: 'FAIL', detail: 'full', next: 'Free some space.' };

describe('verdictOf', () => {
  it.each([
    [[ok], 'This machine runs Braid'],
    [[ok, warn], 'This machine runs Braid; 1 thing could be better'],
    [[ok, warn, warn, fail], "1 check failed: Braid can't run here yet; 2 things could be better"],
    [[fail, fail], "2 checks failed: Braid can't run here yet"],
  ])('says whether it works', (checks, words) => expect(verdictOf(checks)).toBe(words));
});

describe('reportOf', () => {
  it('writes one line per check, with what to do below it', () => {
    expect(reportOf([ok, fail], '0.1.0')).toBe('Braid 0.1.0\nOK   Node: 24\nFAIL Disk: full\n     Free some space.\n');
  });
});

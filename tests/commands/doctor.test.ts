import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Check } from '../../main/services/doctor/doctor.ts';
import { buildKernels } from '../../main/tensor/kernels/build.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { braid } from './braid.ts';

const folder = temporaryFolderOfFile();
beforeAll(() => void buildKernels());

describe('braid doctor', () => {
  it('checks the tensor backend in a trainer process and touches nothing', async () => {
    const run = await braid(['doctor', '--json', '--workspace', join(folder, 'none')]);
    const { ok, checks } = JSON.parse(run.stdout) as { ok: boolean; checks: Check[] };
    const named = new Map(checks.map((check) => [check.name, check]));
    expect(named.get('Embedded backend')?.status).toBe('OK');
    expect(named.get('Embedded backend')?.detail).toContain('a 256 x 256 product is correct');
    expect(named.get('Database')?.detail).toBe('none yet; SQLite works');
    expect(run.code).toBe(ok ? 0 : 1);
    expect(checks.every(({ status, next }) => (status === 'OK') === (next === null))).toBe(true);
  });

  it('fails with 1 and the next step when the database is not one', async () => {
    const workspace = mkdtempSync(join(folder, 'broken-'));
    writeFileSync(join(workspace, 'braid.db'), 'not a database, but long enough to be inspected\n'.repeat(40));
    const run = await braid(['doctor', '--workspace', workspace]);
    expect(run.code).toBe(1);
    expect(run.stdout).toMatch(/^FAIL {2}Database .*\n\s+Choose another workspace/m);
    expect(run.stdout).toMatch(/Braid can't run on this machine yet: .*Database/);
  });
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockWorkspace } from '../../main/services/workspace-lock.ts';
import { errorOf, temporaryFolder } from '../store/helpers.ts';

describe('lockWorkspace', () => {
  it('tells the second who holds it, and lets it in after the release', () => {
    const root = temporaryFolder();
    const lock = lockWorkspace(root, 'braid serve', () => Date.UTC(2026, 0, 2, 3, 4));
    expect(errorOf(() => lockWorkspace(root, 'the desktop app'))).toMatchObject({
      code: 'WORKSPACE_HELD',
      kind: 'input',
      message: `Expected to open the workspace ${root}, but braid serve (process ${process.pid}, since 2026-01-02 03:04 UTC) holds it`,
    });
    lock.release();
    lockWorkspace(root, 'the desktop app').release();
    expect(existsSync(join(root, '.braid-app.json'))).toBe(false);
  });

  it('passes over a holder that was killed, and a file that a crash cut off', async () => {
    const root = temporaryFolder();
    const program = `
      import { lockWorkspace } from ${JSON.stringify(new URL('../../main/services/workspace-lock.ts', import.meta.url).href)};
      lockWorkspace(${JSON.stringify(root)}, 'another');
      console.log('locked');
      setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], { stdio: 'pipe' });
    await once(child.stdout, 'data');
    expect(() => lockWorkspace(root, 'this')).toThrow(`process ${child.pid}`);
    child.kill('SIGKILL');
    await once(child, 'close');
    lockWorkspace(root, 'this').release();
    writeFileSync(join(root, '.braid-app.json'), '{"pid": 1');
    lockWorkspace(root, 'this').release();
  });

  it("leaves another's lock alone when released late", () => {
    const root = temporaryFolder();
    const lock = lockWorkspace(root, 'first');
    const other = '{"pid":1,"hostId":"elsewhere:1","what":"other","since":1}';
    writeFileSync(join(root, '.braid-app.json'), other);
    lock.release();
    expect(readFileSync(join(root, '.braid-app.json'), 'utf8')).toBe(other);
  });
});

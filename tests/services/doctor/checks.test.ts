import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkBundled } from '../../../main/services/doctor/bundled.ts';
import { checkBrowser, checkElectron } from '../../../main/services/doctor/desktop.ts';
import { readElectronPackage } from '../../../main/services/doctor/electron-package.ts';
import { checkEmbedded } from '../../../main/services/doctor/embedded.ts';
import { checkMemory, checkNode } from '../../../main/services/doctor/machine.ts';
import { checkWorkspace } from '../../../main/services/doctor/workspace.ts';
import { keepCopyBefore } from '../../../main/store/copy-before.ts';
import { openStore } from '../../../main/store/index.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../temporary-folder.ts';

const folder = temporaryFolderOfFile();

describe('checks', () => {
  it('takes Node from 22.18', () => {
    expect(checkNode('24.1.0').status).toBe('OK');
    expect(checkNode('22.17.1')).toMatchObject({ status: 'FAIL', next: expect.stringContaining('npm run braid') });
    expect(checkNode('20.19.0').status).toBe('FAIL');
  });

  it('warns of little free memory and fails below 1 GiB', () => {
    expect(checkMemory({ totalBytes: 8 * 2 ** 30, freeBytes: 4 * 2 ** 30 }).status).toBe('OK');
    expect(checkMemory({ totalBytes: 8 * 2 ** 30, freeBytes: 2 ** 30 }).status).toBe('WARN');
    expect(checkMemory({ totalBytes: 2 ** 29, freeBytes: 2 ** 29 }).status).toBe('FAIL');
  });

  it('distinguishes an Electron with and without its binary', () => {
    const electron = join(folder, 'electron');
    mkdirSync(join(electron, 'dist'), { recursive: true });
    writeFileSync(join(electron, 'package.json'), '{"version":"40.0.0"}');
    expect(checkElectron(null)).toMatchObject({ status: 'WARN', detail: 'not installed' });
    expect(checkElectron(readElectronPackage(electron)).detail).toBe(
      'package 40.0.0, but its binary was not downloaded',
    );
    writeFileSync(join(electron, 'path.txt'), 'electron');
    writeFileSync(join(electron, 'dist/electron'), '');
    expect(checkElectron(readElectronPackage(electron)).status).toBe('OK');
  });

  it('finds a browser on the PATH', () => {
    const file = join(folder, 'chromium');
    writeFileSync(file, '');
    chmodSync(file, 0o755);
    expect(checkBrowser(folder)).toMatchObject({ status: 'OK', detail: file });
  });

  it('names the copies of a database that updates have left', () => {
    const root = temporaryFolder();
    const database = join(root, 'braid.db');
    openStore(database).close();
    const detail = () => checkWorkspace({ root, database }).find(({ name }) => name === 'Database')?.detail;
    expect(detail()).toMatch(/version \d+, 0 runs$/);
    keepCopyBefore(database, 15);
    expect(detail()).toMatch(/0 runs; from before updates, and may be deleted: braid\.db\.v15, \d+ KiB$/);
  });

  it('says what is missing of kernels, model and texts', async () => {
    const [kernels] = await checkEmbedded(
      { kernels: join(folder, 'none.wasm'), trainer: () => expect.unreachable() },
      1,
    );
    expect(kernels).toMatchObject({ status: 'FAIL', next: expect.stringContaining('kernels/build.ts') });
    const missing = checkBundled({ resources: join(folder, 'r'), datasets: join(folder, 'd') });
    expect(missing.map(({ status }) => status)).toEqual(['FAIL', 'FAIL']);
  });
});

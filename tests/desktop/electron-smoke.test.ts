import { resolve } from 'node:path';
import { _electron } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { electronPackage } from '../../main/services/doctor/electron-package.ts';
import { obstacle } from '../../scripts/start-rules.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const root = resolve(import.meta.dirname, '../..');
const binary = electronPackage()?.binary ?? null;
const { platform, env } = process;
const why =
  binary === null ? "Electron's binary is missing" : obstacle({ platform, env, uid: process.getuid?.() ?? null });

if (why !== null) process.stdout.write(`The smoke test in real Electron is skipped: ${why}.\n`);

describe('real Electron', () => {
  it.skipIf(why !== null)('shows the page, connected, in a locked window', async () => {
    const app = await _electron.launch({
      executablePath: binary ?? '',
      // Otherwise Playwright adds --no-sandbox on Linux, which the app refuses.
      chromiumSandbox: true,
      args: [root, `--user-data-dir=${temporaryFolder()}`, '--workspace', temporaryFolder()],
    });
    try {
      const page = await app.firstWindow();
      // The status bar says so once the port has answered.
      await page.getByText('Idle', { exact: true }).waitFor();
      expect(page.url()).toMatch(/^app:\/\/braid\/index\.html/);
      expect(
        await page.evaluate(() => Object.keys(globalThis).filter((name) => /require|process|ipc/i.test(name))),
      ).toEqual([]);
      expect(await app.evaluate(({ app }) => app.isPackaged)).toBe(false);
      await page.getByRole('link', { name: 'Runs' }).click();
      expect(page.url()).toContain('#/runs');
      const crossed = await page.evaluate(() =>
        fetch('https://example.org/').then(
          () => 'out',
          () => 'kept in',
        ),
      );
      expect(crossed).toBe('kept in');
    } finally {
      await app.close();
    }
  });
});

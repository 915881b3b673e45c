import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, describe, expect, it } from 'vitest';
import { packageTarball } from '../services/native-setup/stand-ins.ts';
import { expectAccessible, type OpenPage, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

/** A generous limit for busy machines, as the doctor starts a trainer. */
const patient = { timeout: 50_000 };

describe.skipIf(noBrowser)('the Settings screen', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp();
  });

  describe('on one page', () => {
    let opened: OpenPage;
    beforeAll(async () => {
      opened = await openPage(app);
    });

    it('saves at once, changes the theme live, and keeps both over a reload', async () => {
      const { page, complaints, goto } = opened;
      await goto('/settings');
      const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
      await page.getByText('dark', { exact: true }).click();
      await expect.poll(scheme, patient).toBe('dark');
      await expectAccessible(page);
      await page.getByText('light', { exact: true }).click();
      await expect.poll(scheme, patient).toBe('light');
      const runs = page.getByRole('textbox', { name: 'Runs at the same time' });
      await runs.fill('3');
      await runs.press('Enter');
      // Shown as soon as the new value is saved.
      await page.getByRole('button', { name: 'Reset to 1' }).waitFor();
      await page.reload();
      await expect.poll(() => runs.inputValue(), patient).toBe('3');
      await page.getByRole('button', { name: 'Reset to 1' }).click();
      await expect.poll(() => runs.inputValue(), patient).toBe('1');
      expect(complaints).toEqual([]);
    });

    it('saves a number that is typed with a decimal comma and a trailing zero, and the nearest that it can be', async () => {
      const { page, complaints, goto } = opened;
      await goto('/settings');
      const price = page.getByRole('textbox', { name: 'Price of this machine' });
      await price.fill('');
      await price.pressSequentially('2,50');
      await price.press('Tab');
      await page.getByRole('button', { name: 'Reset to 0' }).waitFor();
      await page.reload();
      await expect.poll(() => price.inputValue(), patient).toBe('2.5');
      await price.fill('-3');
      await price.press('Tab');
      await expect.poll(() => price.inputValue(), patient).toBe('0');
      await price.fill('2.5');
      await price.press('Tab');
      await page.getByRole('button', { name: 'Reset to 0' }).click();
      await expect.poll(() => price.inputValue(), patient).toBe('0');
      expect(complaints).toEqual([]);
    });

    it('changes the theme and nothing else', async () => {
      const { page, complaints, goto } = opened;
      await goto('/settings');
      const theme = page.getByRole('radiogroup', { name: 'Theme' });
      await theme.getByText('dark', { exact: true }).click();
      await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
      // Two preferences that aren't at their defaults when the theme changes.
      const promotion = page.getByRole('switch', { name: 'Queue the next stage' });
      await promotion.click({ force: true });
      await page.getByRole('button', { name: 'Reset to off' }).waitFor();
      const smoothing = page.getByRole('textbox', { name: 'Smoothing of charts' });
      await smoothing.fill('0.2');
      await smoothing.press('Enter');
      await page.getByRole('button', { name: 'Reset to 0.6' }).waitFor();
      await theme.getByText('light', { exact: true }).click();
      await page.locator('html[data-mantine-color-scheme="light"]').waitFor();
      await page.reload();
      await expect.poll(() => promotion.isChecked(), patient).toBe(true);
      await expect.poll(() => smoothing.inputValue()).toBe('0.2');
      await expect.poll(() => theme.getByRole('radio', { name: 'light' }).isChecked()).toBe(true);
      await expect.poll(() => page.getByRole('switch', { name: 'Notifications' }).isChecked()).toBe(true);
      expect(complaints).toEqual([]);
    });

    it('keeps a token for Hugging Face, never shows it again, and forgets it', async () => {
      const { page, complaints, goto } = opened;
      await goto('/settings');
      await page.getByText('None known.').waitFor();
      await page.getByLabel('Hugging Face token').fill('hf_secret');
      await page.getByRole('button', { name: 'Save token' }).click();
      await page.getByText('One is saved here.').waitFor();
      await expectAccessible(page);
      await page.reload();
      await page.getByRole('button', { name: 'Forget' }).waitFor();
      await expect.poll(() => page.getByLabel('Hugging Face token').inputValue()).toBe('');
      expect(await page.content()).not.toContain('hf_secret');
      await page.getByRole('button', { name: 'Forget' }).click();
      await page.getByText('None known.').waitFor();
      expect(complaints).toEqual([]);
    });

    it("restores the saved value when a change can't be saved, and says why", async () => {
      const { page, goto } = opened;
      await goto('/settings');
      const queue = page.getByRole('switch', { name: 'Start queued runs' });
      await expect.poll(() => queue.isChecked(), patient).toBe(true);
      // Another program that locks the database for longer than the timeout.
      const other = new Database(join(app.workspace, 'braid.db'));
      other.exec('begin immediate');
      await queue.click({ force: true });
      await page.getByText('Start queued runs was not saved; the old value is kept').waitFor();
      other.close();
      await expect.poll(() => queue.isChecked()).toBe(true);
    });

    it('shows what this machine can run, with a report to copy', async () => {
      const { page, goto } = opened;
      await goto('/settings/doctor');
      await page.getByText(/This machine runs Braid|failed/).waitFor(patient);
      await expectAccessible(page);
      await page.getByRole('button', { name: 'Copy report' }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^Braid \S+\nOK {3}Node: /);
    });

    it('leaves it to the desktop and the command line what a native set-up is made of', async () => {
      const { page, goto } = opened;
      await goto('/settings/doctor');
      await page.getByText('braid setup-native').first().waitFor(patient);
      await page.getByText('Best match, via pip').waitFor();
      expect(await page.getByText(/File or URL|If npm or a C/).count()).toBe(0);
    });
  });

  it('sets up the native backend, or names the file that failed', async () => {
    const trusted = await startApp(undefined, ['--allow-launchers']);
    const { page, goto, complaints } = await openPage(trusted);
    await goto('/settings/doctor');
    await page.getByText('not yet').waitFor(patient);
    const wrong = join(trusted.workspace, 'numpy-2.0.0.whl');
    writeFileSync(wrong, 'no archive');
    await page.getByText('File or URL').click();
    const field = page.getByRole('textbox', { name: 'Wheel or C library' });
    await field.fill('/etc/hostname');
    await page.getByRole('button', { name: 'Set up', exact: true }).click();
    await page.getByText(/Expected a path inside .*, got \/etc\/hostname/).waitFor(patient);
    await field.fill(wrong);
    await page.getByText('If npm or a C++ compiler is missing').click();
    await page.getByRole('textbox', { name: 'Package' }).fill(packageTarball(trusted.workspace));
    await page.getByRole('button', { name: 'Set up', exact: true }).click();
    const failure = page.getByRole('alert').filter({ hasText: 'Set up the native backend: failed' });
    await failure.getByText(/numpy-2\.0\.0\.whl/).waitFor(patient);
    await expectAccessible(page);
    await failure.getByRole('button', { name: 'Dismiss' }).click();
    await failure.waitFor({ state: 'hidden' });
    expect(complaints).toEqual([]);
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { expectAccessible, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { modelWorkspace } from './model-workspace.ts';

/** Models run in their own process, which takes time on a busy machine. */
const computing = { timeout: 50_000 };
vi.setConfig({ testTimeout: 180_000 });

describe.skipIf(noBrowser)('the Compare screen', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp(await modelWorkspace());
  });

  it('compares the bundled model with others, shows every prompt, exports, and opens again at once', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/compare?model=checkpoint%3A1&model=workspace%3Arandom');
    await page.getByText('No comparisons yet').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel', exact: true }).waitFor();

    // The bundled model's weights under another name give the same answers; a random model is never right.
    const rows = page.getByRole('table').first().getByRole('row');
    await rows.nth(1).getByText('of 12').waitFor(computing);
    await rows.nth(2).getByText('0 · 12 · 0').waitFor(computing);
    await rows.nth(3).getByText('0 · 0 · 12').waitFor(computing);
    await expectAccessible(page);

    // In a narrow window names stay whole and the table stays in its panel.
    await page.setViewportSize({ width: 700, height: 900 });
    expect((await rows.nth(1).boundingBox())?.height).toBeLessThan(60);
    const right = async (what: Locator) => ((box) => (box === null ? 0 : box.x + box.width))(await what.boundingBox());
    expect(await right(page.getByRole('table').first())).toBeLessThanOrEqual(await right(page.getByRole('main')));
    await page.setViewportSize({ width: 1280, height: 800 });

    await page.getByRole('button', { name: 'random', exact: true }).click();
    await page.getByText('Prompts, random against tiny').waitFor();
    const prompts = page.getByLabel('Prompts', { exact: true });
    await prompts.getByRole('group', { name: /^tiny/ }).first().waitFor();
    await prompts
      .getByRole('group', { name: /^random/ })
      .first()
      .waitFor();
    await page.getByRole('combobox', { name: 'Filter prompts' }).click();
    await page.getByRole('option', { name: 'wins' }).click();
    await page.getByText('No matching prompts').waitFor();
    await page.getByRole('combobox', { name: 'Filter prompts' }).click();
    await page.getByRole('option', { name: 'losses' }).click();
    await page.getByText('12 of 12', { exact: true }).waitFor();

    const csv = await saved('CSV');
    expect(csv.split('\n')).toHaveLength(14);
    expect(await saved('SVG')).toMatch(/^<svg /);
    expect(await saved('PNG')).toMatch(/PNG/);
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'Copy as Markdown' }).click();
    // The result is shown until the menu opens again.
    await page.getByRole('button', { name: 'Copied' }).click();
    await page.getByRole('button', { name: 'Export' }).waitFor();
    await page.keyboard.press('Escape');

    await page.reload();
    await page.getByText('0 · 12 · 0').waitFor();
    await goto('/compare');
    await page.getByRole('link', { name: /random against tiny/ }).click();
    await page.getByText('0 · 12 · 0').waitFor();
    expect(complaints).toEqual([]);

    async function saved(format: string): Promise<string> {
      await page.getByRole('button', { name: 'Export' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: format, exact: true }).click(),
      ]);
      return readFileSync(await download.path(), 'latin1');
    }
  });

  it('names the unreadable model, keeps the rest, and resumes once it is fixed', async () => {
    const { page, goto } = await openPage(app);
    const file = join(app.workspace, 'models/random/model.safetensors');
    const whole = readFileSync(file);
    writeFileSync(file, whole.subarray(0, 3000));
    await goto('/compare?model=workspace%3Arandom&n=3');
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByText('The comparison did not finish').waitFor(computing);
    await page.getByText('1 of 2 models evaluated and saved; still to do: random.').waitFor();
    await expectAccessible(page);
    writeFileSync(file, whole);
    await page.getByRole('button', { name: 'Evaluate the rest' }).click();
    await page.getByText('0 · 0 · 3').waitFor(computing);
  });
});

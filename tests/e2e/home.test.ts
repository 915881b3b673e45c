/** Home and Compare as a returning user finds them: the newest learning curve, and forms that stay small. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { expectAccessible, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { modelWorkspace } from './model-workspace.ts';
import { boxOf } from './pointer.ts';
import { seedRun } from './seed-runs.ts';

const LONG_NAME = 'a run with a name that fills the whole field of the form for a comparison';
const REASON = 'The trainer process ended with SIGKILL (killed by a user, or by the system when memory ran out)';

describe.skipIf(noBrowser)('a workspace with runs', () => {
  let app: RunningApp;
  beforeAll(async () => {
    const workspace = await modelWorkspace();
    const store = openStore(join(workspace, 'braid.db'));
    const { runId } = seedRun(store, { steps: 30 });
    store.runs.rename(runId, LONG_NAME);
    seedRun(store, { steps: 0, config: { max_steps: 30 }, interrupted: REASON });
    store.close();
    app = await startApp(workspace);
  });

  it('shows the newest learning curve on Home, though a newer run was interrupted before its first step', async () => {
    const { page, goto, complaints } = await openPage(app);
    await goto('/');
    const newest = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Newest learning curve' }) });
    await newest.getByRole('link', { name: LONG_NAME }).waitFor();
    await newest.getByRole('figure').or(newest.locator('canvas')).first().waitFor();
    await page.getByRole('link', { name: 'run-0003-10words-grpo' }).first().waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('shows the whole reason of an interruption in a narrow window', async () => {
    const { page, goto } = await openPage(app, { width: 700, height: 800 });
    await goto('/');
    const row = page.getByRole('listitem').filter({ hasText: REASON }).locator('p');
    await row.waitFor();
    const overflow = (element: Element) => element.scrollWidth - element.clientWidth;
    expect(await row.evaluate(overflow)).toBeLessThanOrEqual(0);
  });

  it('keeps one chosen model on one row of the form for a comparison', async () => {
    const { page, goto, complaints } = await openPage(app);
    await goto('/compare');
    const against = page.getByRole('combobox', { name: 'Against' });
    const field = against.locator('xpath=ancestor::*[contains(@class, "mantine-MultiSelect-input")][1]');
    const baseline = await boxOf(page.getByRole('combobox', { name: 'Baseline' }));
    await field.locator('.mantine-MultiSelect-pill').first().waitFor();
    await expect.poll(() => field.locator('.mantine-MultiSelect-pill').count()).toBe(1);
    await expect.poll(async () => (await boxOf(field)).height).toBeLessThanOrEqual(baseline.height + 4);
    expect(complaints).toEqual([]);
  });
});

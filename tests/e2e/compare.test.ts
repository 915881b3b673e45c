import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { addRun } from '../store/helpers.ts';
import { expectAccessible, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { modelWorkspace } from './model-workspace.ts';
import { boxOf } from './pointer.ts';

/** Models run in their own process, which takes time on a busy machine. */
const computing = { timeout: 100_000 };
vi.setConfig({ testTimeout: 180_000 });

describe.skipIf(noBrowser)('the Compare screen', () => {
  let app: RunningApp;
  beforeAll(async () => {
    const workspace = await modelWorkspace();
    await addRunThatGotWorse(workspace);
    app = await startApp(workspace);
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
    await expect.poll(async () => (await boxOf(rows.nth(1))).height).toBeLessThan(60);
    const right = async (what: Locator) => (({ x, width }) => x + width)(await boxOf(what));
    const sticksOut = async () =>
      (await right(page.getByRole('table').first())) - (await right(page.getByRole('main')));
    await expect.poll(sticksOut).toBeLessThanOrEqual(0);
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

  it('chooses the best checkpoint, or all, and draws the score of each as a curve over its steps', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/compare?n=4');
    const chosen = page.locator('.mantine-MultiSelect-pill');
    await page.getByRole('button', { name: 'Best checkpoint of run-0002-10words-grpo (step 10)' }).click();
    await expect.poll(() => chosen.filter({ hasText: 'run 2' }).allTextContents()).toEqual(['run 2 · step 10']);
    await page.getByRole('button', { name: 'Both checkpoints of run-0002-10words-grpo' }).click();
    await expect.poll(() => chosen.filter({ hasText: 'run 2' }).count()).toBe(2);
    await page.getByRole('button', { name: 'Compare', exact: true }).click();

    const result = page.getByRole('table').first();
    const meanOf = async (step: number) =>
      (await result
        .getByRole('row', { name: `step ${step}` })
        .getByRole('cell')
        .nth(1)
        .textContent()) ?? '';
    await expect.poll(() => meanOf(20), computing).toMatch(/^0\.\d{3}$/);
    await expect.poll(() => meanOf(10), computing).toMatch(/^0\.\d{3}$/);
    const [early, late] = [await meanOf(10), await meanOf(20)];
    expect(Number(early)).toBeGreaterThan(Number(late) + 0.2);

    const curve = page.getByRole('slider', { name: 'Score by checkpoint, step' });
    await curve.focus();
    await page.keyboard.press('Home');
    await expect.poll(() => curve.getAttribute('aria-valuetext')).toBe(`step 10, run-0002-10words-grpo ${early}`);
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => curve.getAttribute('aria-valuetext')).toBe(`step 20, run-0002-10words-grpo ${late}`);
    await page.getByRole('button', { name: 'Score by checkpoint: data as table' }).click();
    const table = page.getByRole('region', { name: 'Score by checkpoint as a table' });
    await table.getByRole('columnheader', { name: 'run-0002-10words-grpo' }).waitFor();
    await table.getByRole('row', { name: `10 ${early}` }).waitFor();
    await table.getByRole('row', { name: `20 ${late}` }).waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });
});

/** A second run with two checkpoints: the bundled model at step 10, and random weights at step 20. */
async function addRunThatGotWorse(workspace: string): Promise<void> {
  const store = openStore(join(workspace, 'braid.db'));
  const run = addRun(store);
  const folder = 'outputs/run-0002-10words-grpo';
  store.runs.place(run, 'run-0002-10words-grpo', folder);
  store.runs.setState(run, 'done', null);
  cpSync(join(workspace, 'outputs/run-0001-10words-grpo/checkpoint-20'), join(workspace, folder, 'checkpoint-10'), {
    recursive: true,
  });
  cpSync(join(workspace, 'models/random'), join(workspace, folder, 'checkpoint-20'), { recursive: true });
  for (const [step, mean] of [
    [10, 0.9],
    [20, 0.1],
  ] as const) {
    store.checkpoints.record(run, step, `${folder}/checkpoint-${step}`, 'periodic');
    store.evaluations.add(
      {
        runId: run,
        checkpointId: null,
        model: 'tiny',
        dataset: 'held-out.jsonl',
        step,
        n: 4,
        mean,
        low: null,
        high: null,
        exactMatch: null,
        metrics: {},
        duringTraining: true,
      },
      [],
    );
  }
  store.close();
}

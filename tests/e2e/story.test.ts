/**
 * The whole workflow as a user clicks through it, with the real trainer on the bundled model: texts, merge, curriculum,
 * the 10-word stage, watch, pause, reload, resume, stop and save, best and worst, baseline against trained.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { openPage, picture, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

/** Enough steps to see it learn; the documents' pictures show more. */
const STEPS = process.env.BRAID_SCREENSHOTS === undefined ? 10 : 30;

/** The texts that docs/tutorial.md gives its readers, as a JSON file. */
function tutorialTexts(): string {
  const tutorial = readFileSync(resolve(import.meta.dirname, '../../docs/tutorial.md'), 'utf8');
  const [, json] = /```json\n(.*?)```/s.exec(tutorial) ?? [];
  if (json === undefined) throw new Error('Expected texts as JSON in docs/tutorial.md, found none');
  return json;
}

/** The run's progress, from its header: `12/180`. */
async function stepsDone(page: Page): Promise<number> {
  const text = await page
    .getByText(/^\d+\/\d+$/)
    .first()
    .textContent();
  return Number(text?.split('/')[0]);
}

async function waitForStep(page: Page, step: number): Promise<void> {
  await expect.poll(() => stepsDone(page), { timeout: STEPS * 15_000, interval: 200 }).toBeGreaterThanOrEqual(step);
}

/** Both models' answers to a held-out record. */
async function generate(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Draw a held-out record' }).click();
  await page.getByRole('button', { name: 'Generate', exact: true }).click();
  await page
    .getByText(/words right/)
    .nth(1)
    .waitFor({ timeout: 60_000 });
  await page.getByRole('button', { name: 'Generate', exact: true }).waitFor({ timeout: 60_000 });
}

describe.skipIf(noBrowser)('the whole story', () => {
  it('goes from texts to a comparison by clicks', { timeout: 360_000 + STEPS * 15_000 }, async () => {
    const app = await startApp();
    const { page, goto, complaints } = await openPage(app);
    await picture(page, 'home-first');

    // Texts: the bundled ones, two imported ones, and short ones merged into a longer one.
    await goto('/texts');
    await page.getByRole('button', { name: 'Load the bundled texts' }).click();
    await page.getByText('64 texts', { exact: true }).waitFor();
    await page.keyboard.press('i');
    const file = join(temporaryFolderOfFile(), 'own.json');
    writeFileSync(file, tutorialTexts());
    await page.getByLabel('Files to import').setInputFiles(file);
    await page.getByRole('button', { name: 'Import 2 texts' }).waitFor();
    await picture(page, 'texts-import');
    await page.getByRole('button', { name: 'Import 2 texts' }).click();
    await page.getByText('66 texts', { exact: true }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('m');
    const merge = page.getByRole('dialog', { name: 'Merge texts' });
    await merge.getByLabel('Merged texts').fill('1');
    await merge.getByRole('textbox', { name: /Title of the merged text/ }).fill('Joined');
    await merge.getByText('Texts per stage, before and after').waitFor();
    await merge.getByRole('cell', { name: '19 → 20' }).waitFor();
    await picture(page, 'texts-merge');
    await merge.getByRole('button', { name: /^Merge \d+ texts into 1$/ }).click();
    await page.getByText(/texts merged into 1/).waitFor();

    await picture(page, 'texts');
    await goto('/texts/make');
    await page.getByText('Held out: training and test share no text').waitFor();
    await picture(page, 'texts-make');

    // The curriculum, including its datasets.
    await goto('/curriculum');
    await page.getByRole('button', { name: 'Plan the whole curriculum' }).click();
    await page.getByRole('button', { name: 'Start stage' }).waitFor({ timeout: 60_000 });
    await page.getByText(/512 training pairs, 64 held out/).waitFor({ timeout: 60_000 });
    await page.getByText('What 10 words trains on').waitFor();
    await picture(page, 'curriculum');

    // The 10-word stage, after its pre-flight check.
    await page.getByRole('button', { name: 'Start stage' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).waitFor({ timeout: 300_000 });
    await page.getByText(/^At least .+ left/).waitFor();
    await picture(page, 'preflight');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.getByRole('button', { name: 'Stop & save' }).waitFor({ timeout: 60_000 });
    const runUrl = page.url();
    await waitForStep(page, 4);

    // Pause, reload, resume: nothing is lost, the charts are complete.
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor({ timeout: 60_000 });
    const paused = await stepsDone(page);
    await page.reload();
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    expect(await stepsDone(page)).toBe(paused);
    await page.getByRole('button', { name: 'Reward: data as table' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBeGreaterThan(paused);
    await page.getByRole('button', { name: 'Reward: chart' }).click();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await waitForStep(page, STEPS);
    await page.getByLabel('Verdict on the signal').waitFor();
    await picture(page, 'run');
    await page.getByRole('button', { name: 'Stop & save' }).click();
    await page.getByText('stopped', { exact: true }).first().waitFor({ timeout: 60_000 });

    // Best and worst completions, word by word.
    const runId = /runs\/(\d+)/.exec(runUrl)?.[1];
    await goto(`/samples?run=${runId}`);
    await page.getByText('best', { exact: true }).first().waitFor();
    await page.getByText('worst', { exact: true }).first().waitFor();
    await page.keyboard.press('j');
    await page.locator('[role="group"][aria-label*=" right"]').first().waitFor();
    await picture(page, 'samples');

    // Baseline against trained, on held-out prompts.
    await goto('/compare');
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page
      .getByText(/^\d+ · \d+ · \d+$/)
      .first()
      .waitFor({ timeout: 180_000 });
    const difference = await page
      .getByText(/^[+−]0\.\d{3}$/)
      .first()
      .textContent();
    expect(difference).toMatch(/^\+0\.[1-9]/);
    await picture(page, 'compare');

    for (const [route, name, ready] of [
      ['/', 'home', 'Recent runs'],
      ['/playground', 'playground', 'Playground'],
      ['/models', 'models', 'Architecture'],
      ['/settings', 'settings', 'Theme'],
    ] as const) {
      await goto(route);
      await page.getByText(ready).first().waitFor();
      if (name === 'playground' && process.env.BRAID_SCREENSHOTS !== undefined) await generate(page);
      await picture(page, name);
    }
    expect(complaints).toEqual([]);
  });
});

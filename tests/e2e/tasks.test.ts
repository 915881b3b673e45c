/** A stranger's own reward, by clicks: written, found to be constant, fixed, trained, re-scored with a second version, compared. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { expectAccessible, openPage, picture, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

const STEPS = 16;

/** The rewards of the tutorial, in its order, without the indentation of its list. */
function tutorialRewards(): readonly string[] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/tutorial.md'), 'utf8');
  const section = page.slice(page.indexOf('## 8.'), page.indexOf('## Where to go'));
  return [...section.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code = '']) => code.replaceAll(/^ {3}/gm, ''));
}

/** Replaces the text in the editor, as by typing. */
async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'reward.ts' }).focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

describe.skipIf(noBrowser)('a task of your own', () => {
  it('leads from a reward that teaches nothing to a comparison, by clicks', { timeout: 900_000 }, async () => {
    const [constant = '', fixed = '', second = ''] = tutorialRewards();
    const app = await startApp();
    const { page, complaints, goto } = await openPage(app, { width: 1440, height: 900 });
    page.setDefaultTimeout(60_000);
    await goto('/tasks');
    await page.getByRole('link', { name: 'second-text' }).waitFor();
    await expectAccessible(page);

    // A new task, from a template.
    await page.getByRole('button', { name: 'New task …' }).click();
    const dialog = page.getByRole('dialog', { name: 'New task' });
    await dialog.getByRole('textbox', { name: /Name/ }).fill('mine');
    await dialog.getByRole('combobox', { name: 'Task to copy' }).click();
    await page.getByRole('option', { name: /^second-text/ }).click();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'mine' }).waitFor();

    // Completions of the bundled model to try it on, and a reward that is the same for all of them.
    await page.getByRole('button', { name: 'Sample now …' }).click();
    const sampling = page.getByRole('dialog', { name: 'Sample completions' });
    const each = sampling.getByRole('textbox', { name: 'Completions of each' });
    await each.fill('300');
    // Not sent with another number than it shows.
    await each.press('Enter');
    await expect.poll(() => each.inputValue()).toBe('64');
    await each.fill('8');
    await sampling.getByRole('button', { name: 'Sample', exact: true }).click();
    await sampling.waitFor({ state: 'hidden', timeout: 120_000 });
    await page.reload();
    const tried = page.getByLabel('Completions to try it on').locator('option:checked');
    await expect.poll(() => tried.textContent()).toBe('Sampled: tiny, 64 completions');
    await write(page, constant);
    await page.getByText(/^The reward is constant: every completion gets 1\.000/).waitFor();
    await page.getByText('8 of 8 would be dead').waitFor();
    await picture(page, 'task-constant');

    // A fault is shown where it stands.
    await write(page, fixed.replace('return ', 'retrun '));
    await page.getByText(/^reward\.ts · 1 to fix$/).waitFor();
    await page.locator('.cm-lintRange-error').first().waitFor();
    await write(page, fixed);
    await page.getByText(/^[1-8] of 8 groups would teach the model something/).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect.poll(() => page.getByText('unsaved changes').count()).toBe(0);
    expect(readFileSync(join(app.workspace, 'tasks/mine/reward.ts'), 'utf8')).toBe(fixed);

    // A run with it, on the bundled model.
    await page.getByRole('button', { name: 'Train with this task …' }).click();
    const form = page.getByRole('dialog', { name: 'New run' });
    await form.getByRole('textbox', { name: /max_steps/ }).fill(String(STEPS));
    await form.getByRole('button', { name: 'Start run' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click({ timeout: 120_000 });
    await page.getByText('done', { exact: true }).first().waitFor({ timeout: 240_000 });
    await page.getByRole('button', { name: 'Reward: data as table' }).click();
    const rewards = await page.getByRole('table').first().getByRole('row').allInnerTexts();
    const numbers = rewards.map((row) => Number(/[01]\.\d+/.exec(row.replace(/^\S+/, ''))?.[0]));
    const real = numbers.filter(Number.isFinite);
    expect(Math.max(...real) - Math.min(...real)).toBeGreaterThan(0.1);

    // A second version, over what the run has stored.
    await goto('/tasks/mine');
    await write(page, second);
    await page.getByText('Re-score history').click();
    await page.getByText(/^The order (changes in \d+ of \d+ groups|of completions stays)/).waitFor();
    await page.getByText(/over \d+ stored completions/).waitFor();
    await picture(page, 'task-rescore');
    await page.getByText('Gaming report').click();
    await page.getByRole('table', { name: 'Correlations' }).waitFor();
    await expectAccessible(page);

    // The changes are kept on another screen, and can be discarded.
    await goto('/tasks');
    await page.getByText('unsaved changes').waitFor();
    await goto('/tasks/mine');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await expect.poll(() => page.locator('.cm-content').innerText()).toContain('alignment');

    // Baseline against trained on its held-out records, as a dataset of the task.
    await page.getByRole('button', { name: 'Import records …' }).click();
    const records = join(temporaryFolderOfFile(), 'pairs.csv');
    writeFileSync(records, csvOf(readFileSync(join(app.workspace, 'tasks/mine/records.test.jsonl'), 'utf8')));
    await page.getByLabel('File of records').setInputFiles(records);
    await page.getByLabel('Column of first').selectOption('left');
    await page.getByLabel('Column of second').selectOption('right');
    await page.getByRole('textbox', { name: /Held out/ }).fill('50');
    await page.getByText(/training records, \d+ held out/).waitFor();
    await expectAccessible(page);
    await picture(page, 'task-import');
    await page.getByRole('button', { name: 'Create dataset' }).click();
    await page.getByRole('heading', { level: 1, name: 'pairs' }).waitFor();
    await goto('/compare');
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.getByRole('columnheader', { name: 'Reward' }).waitFor({ timeout: 30_000 });
    await page
      .getByText(/^\d+ · \d+ · \d+$/)
      .first()
      .waitFor({ timeout: 180_000 });
    const difference = await page
      .getByText(/^[+−]\d\.\d{3}$/)
      .first()
      .textContent();
    expect(difference).toMatch(/^\+0\./);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });
});

/** The records as somebody else's table: other names, a column more. */
function csvOf(jsonl: string): string {
  const rows = jsonl
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly first: string; readonly second: string });
  const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
  return ['left,right,source', ...rows.map(({ first, second }) => `${quoted(first)},${quoted(second)},texts`)].join(
    '\n',
  );
}

/** The mapping screen of an import: held-out records from a part of the rows, another file, or another split of the Hub. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HubDouble, openHubDouble } from '../services/data-import/hub-double.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { expectAccessible, openPage, picture, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

const sums = (first: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    question: `What is ${first + i} and one?`,
    answer: `It is #### ${first + i + 1}`,
  }));
const csv = (rows: ReturnType<typeof sums>) =>
  ['question,answer', ...rows.map(({ question, answer }) => `${question},${answer}`), ''].join('\n');

describe.skipIf(noBrowser)('held-out records of an import', () => {
  let app: RunningApp;
  let hub: HubDouble;
  const folder = temporaryFolderOfFile();
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const heldOutOf = (dataset: string): readonly { readonly question: string; readonly answer: number }[] =>
    readFileSync(join(app.workspace, 'datasets', `${dataset}.test.jsonl`), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));

  beforeAll(async () => {
    hub = await openHubDouble({ train: sums(1, 8), test: sums(101, 3), extra: sums(201, 2) });
    // The app's process inherits them.
    process.env.HF_ENDPOINT = hub.url;
    process.env.HF_DATASETS_SERVER = hub.url;
    app = await startApp();
  }, 120_000);
  afterAll(() => {
    delete process.env.HF_ENDPOINT;
    delete process.env.HF_DATASETS_SERVER;
    hub.close();
  });

  const create = (page: Page) => page.getByRole('button', { name: 'Create dataset' });

  it('are another file, whose faults are shown in place', { timeout: 240_000 }, async () => {
    const { page, goto, complaints } = await openPage(app);
    page.setDefaultTimeout(60_000);
    await goto('/tasks/last-number/import');
    await page.getByLabel('File of records').setInputFiles(file('sums.csv', csv(sums(1, 8))));
    await page.getByText('8 rows: 7 training records, 1 held out').waitFor();
    expect(await page.getByText('Another split').count()).toBe(0);
    await page.getByText('Another file', { exact: true }).click();
    await page.getByText('Choose the file of the held-out records first.').waitFor();
    await expect.poll(() => create(page).isDisabled()).toBe(true);

    await page.getByLabel('File of held-out records').setInputFiles(file('empty.jsonl', '\n'));
    await page.getByRole('alert').filter({ hasText: 'empty.jsonl: expected at least one record, got none' }).waitFor();
    expect(await page.getByRole('alert').innerText()).not.toContain('/');
    await expect.poll(() => create(page).isDisabled()).toBe(true);
    await expectAccessible(page);

    await page.getByLabel('File of held-out records').setInputFiles(file('more.csv', csv(sums(101, 3))));
    await page.getByText('11 rows: 8 training records, 3 held out').waitFor();
    await create(page).click();
    await page.getByRole('heading', { level: 1, name: 'sums' }).waitFor();
    expect(heldOutOf('sums').map(({ answer }) => answer)).toEqual([102, 103, 104]);
    expect(complaints).toEqual([]);
  });

  it('are a split of the Hub that is offered, and not taken unasked', { timeout: 240_000 }, async () => {
    const { page, goto, complaints } = await openPage(app);
    page.setDefaultTimeout(60_000);
    await goto('/tasks/last-number/import');
    await page.getByRole('textbox', { name: 'Dataset' }).fill('made/hub-sums');
    await page.getByRole('button', { name: 'Download' }).click();
    await page.getByText('8 rows: 7 training records, 1 held out').waitFor();
    await page.getByRole('button', { name: 'Hold out test instead …' }).waitFor();
    expect(hub.asked.some((path) => path.includes('main/test'))).toBe(false);
    await expectAccessible(page);
    await picture(page, 'import-part');

    await page.getByRole('button', { name: 'Hold out test instead …' }).click();
    await page.getByText('Download the split of the held-out records first.').waitFor();
    expect(hub.asked.some((path) => path.includes('main/test'))).toBe(false);
    await expect
      .poll(() => page.getByLabel('Held-out split').locator('option').allInnerTexts())
      .toEqual(['test', 'extra']);
    await page.getByRole('button', { name: 'Download' }).click();
    await page.getByText('11 rows: 8 training records, 3 held out').waitFor();
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [1280, 'dark'],
      [700, 'light'],
      [700, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await expectAccessible(page);
      await picture(page, `import-split-${width}-${colorScheme}`);
    }
    await create(page).click();
    await page.getByRole('heading', { level: 1, name: 'hub-sums' }).waitFor();
    expect(heldOutOf('hub-sums').map(({ question }) => question)).toEqual(sums(101, 3).map(({ question }) => question));
    expect(complaints).toEqual([]);
  });
});

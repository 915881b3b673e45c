/** Experiments in a browser: a free run behind another one, and a sweep of two settings with two seeds. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { connectTo } from './api.ts';
import { expectAccessible, openPage, picture, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

/** A busy machine answers late. */
const patient = { timeout: 120_000 };
/** A few steps of the bundled model; one thread leaves a core for the page. */
const quick = { max_steps: 2, num_generations: 4, per_device_train_batch_size: 8, eval_records: 4, threads: 1 };

/** The workspace's small dataset, added once, as a command beside the app would. */
function smallDataset(workspace: string): string {
  const dataset = join(workspace, 'datasets', '2words.jsonl');
  if (existsSync(dataset)) return dataset;
  writeTinyDataset(dataset);
  const store = openStore(join(workspace, 'braid.db'));
  const facts = { task: 'interleave', words: 2, trainN: 12, testN: 4, seed: 3, template: null, textHash: null };
  store.datasets.record({ name: '2words', file: dataset, ...facts });
  store.close();
  return dataset;
}

describe.skipIf(noBrowser)('experiments', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp();
  });

  it('says that a dataset is missing, and leads to where one is made', async () => {
    const { page, goto } = await openPage(app);
    await goto('/experiments');
    await page.getByRole('button', { name: 'New sweep' }).click();
    await page.getByText('To start, choose a dataset.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Start sweep' }).isDisabled()).toBe(true);
    await page.getByRole('link', { name: 'Make a dataset' }).click();
    await page.getByRole('heading', { level: 1, name: 'Texts & datasets' }).waitFor();
  });

  it('plans a sweep, trains it, and compares its settings in one table', async () => {
    smallDataset(app.workspace);
    const { page, goto, complaints } = await openPage(app);
    page.setDefaultTimeout(60_000);
    const client = await connectTo(app);
    await goto('/experiments');
    await page.getByText('No sweeps yet').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'New sweep' }).click();
    await page.getByLabel('Name').fill('rates');
    await page.getByLabel('Seeds').fill('1, 2');
    await page.getByRole('combobox', { name: 'Add a setting to vary' }).fill('learning_rate');
    await page.getByRole('option', { name: 'learning_rate', exact: true }).click();
    await page.getByLabel('learning_rate', { exact: true }).fill('-1, 1e-3');
    await page.getByText(/^To start, fix learning_rate/).waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Start sweep' }).isDisabled()).toBe(true);
    await page.getByLabel('learning_rate', { exact: true }).fill('1e-5, 1e-3');
    await page.getByText('Settings of all runs').click();
    for (const [field, value] of Object.entries(quick)) {
      await page.getByRole('textbox', { name: 'Find a setting' }).fill(field);
      await page.getByLabel(field, { exact: true }).fill(String(value));
    }
    await page.getByText('2 settings, 4 runs, 8 steps').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Estimate' }).click();
    await page.getByText(/^4 runs, 8 steps: about .* on disk, .* of memory$/).waitFor(patient);
    await picture(page, 'new-sweep');
    await page.getByRole('button', { name: 'Start sweep' }).click();
    await page.getByRole('heading', { level: 1, name: 'rates' }).waitFor();
    await expect
      .poll(async () => (await client.sweeps.list()).map(({ state }) => state), { timeout: 200_000 })
      .toEqual(['done']);
    await page.getByText('4 of 4 runs', { exact: true }).waitFor();
    const table = page.getByRole('region', { name: 'Settings', exact: true }).getByRole('table');
    await expect.poll(() => table.getByRole('row').count(), patient).toBe(3);
    await expect
      .poll(() => table.getByRole('row').nth(1).textContent())
      .toMatch(/\d\.\d{3} ± \d\.\d{3}.*(leads|best|tied)/);
    await expect.poll(() => table.getByRole('link').count()).toBe(4);
    await expectAccessible(page);

    // The plot filters the table by keyboard.
    const from = page.getByRole('slider', { name: 'learning_rate: from' });
    for (let press = 0; press < 2; press++) await from.press('ArrowUp');
    await expect.poll(() => table.getByRole('row').count(), patient).toBe(2);
    await from.press('Escape');
    await expect.poll(() => table.getByRole('row').count(), patient).toBe(3);

    await goto('/runs');
    await page.getByRole('button', { name: 'Plot settings' }).click();
    await page.getByRole('slider', { name: 'learning_rate: up to' }).press('ArrowDown');
    await page.getByRole('slider', { name: 'learning_rate: up to' }).press('ArrowDown');
    await expect.poll(() => page.getByText('2 of 4', { exact: true }).count(), patient).toBe(1);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  }, 400_000);

  it('queues a free run behind another, and starts it when that ends', async () => {
    const dataset = smallDataset(app.workspace);
    const { page, goto, complaints } = await openPage(app);
    page.setDefaultTimeout(60_000);
    const client = await connectTo(app);
    const config = { ...quick, dataset, max_steps: 1_000_000, save_steps: 1_000_000, eval_steps: 0 };
    const { runId } = await client.runs.start({ preset: 'interleave-tiny', name: 'first', config });

    await goto('/experiments');
    await page.getByRole('button', { name: 'Add a run to the queue' }).click();
    await page.getByLabel('Name').fill('behind');
    await page.getByRole('textbox', { name: 'Find a setting' }).fill('max_steps');
    await page.getByLabel('max_steps', { exact: true }).fill('2');
    await page.getByRole('button', { name: 'Add to queue without a check' }).click();
    await page.getByRole('button', { name: 'Remove behind from the queue' }).waitFor();
    await client.queue.addRun({ name: 'third', config: { ...config, ...quick } });
    const waiting = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: /from the queue$/ }) });
    await expect.poll(() => waiting.allTextContents(), patient).toEqual(['run behind', 'run third']);
    await page.getByRole('button', { name: /^Move third in the queue/ }).press('ArrowLeft');
    await expect.poll(() => waiting.allTextContents(), patient).toEqual(['run third', 'run behind']);
    await waiting.nth(1).dragTo(waiting.nth(0));
    await expect.poll(() => waiting.allTextContents(), patient).toEqual(['run behind', 'run third']);
    await page.getByRole('button', { name: 'Remove third from the queue' }).click();
    await expectAccessible(page);
    const names = async () => (await client.runs.list({})).map(({ name }) => name);
    expect(await names()).not.toContain('behind');
    await client.runs.stop({ runId });
    await expect.poll(names, patient).toContain('behind');
    await page.getByText('The queue is empty').waitFor();
    expect(complaints).toEqual([]);
  }, 300_000);
});

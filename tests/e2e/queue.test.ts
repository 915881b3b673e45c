/** Two stages that both want to train: the second shows why it has to wait, and the queue survives a restart. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { connectTo } from './api.ts';
import { expectAccessible, openPage, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

/** A busy machine answers late. */
const patient = { timeout: 30_000 };
/** Enough steps to train until it is stopped. */
const STEPS = 4000;
const config = {
  per_device_train_batch_size: 16,
  num_generations: 4,
  save_steps: STEPS,
  eval_steps: STEPS,
  // Leaves a core for the page.
  threads: 1,
};

/** A workspace with two stages of a few words. */
function workspaceWithStages(): string {
  const workspace = temporaryFolderOfFile();
  const file = writeTinyDataset(join(workspace, 'datasets', '2words.jsonl'));
  const store = openStore(join(workspace, 'braid.db'));
  const facts = { task: 'interleave', words: 2, trainN: 12, testN: 4, seed: 3, template: null, textHash: null };
  const datasetId = store.datasets.record({ name: '2words', file, ...facts });
  const settings = { ...config, pause_on_collapse: false };
  for (const [position, name] of ['First', 'Second', 'Third'].entries())
    store.stages.add({ name, position, words: 2, datasetId, steps: STEPS, promotion: null, config: settings });
  store.close();
  return workspace;
}

describe.skipIf(noBrowser)('the queue', () => {
  it('tells a second stage why it waits, and continues with one click after a restart', async () => {
    const workspace = workspaceWithStages();
    const app = await startApp(workspace);
    const { page, goto, complaints } = await openPage(app);
    page.setDefaultTimeout(60_000);
    const client = await connectTo(app);
    const { runId } = await client.stages.start({ stageId: 1 });
    await expect.poll(async () => (await client.runs.get({ runId })).step, { timeout: 60_000 }).toBeGreaterThan(2);

    await goto('/curriculum?stage=2');
    await page.getByRole('button', { name: 'Start stage' }).click();
    await page.getByText(/is training, which slowed this check down/).waitFor({ timeout: 180_000 });
    // The check says to wait, and so does the suggested button.
    const check = page.locator('section').filter({ has: page.getByRole('heading', { name: /: pre-flight check$/ }) });
    const variant = (name: string) => check.getByRole('button', { name, exact: true }).getAttribute('data-variant');
    expect([await variant('Start'), await variant('Add to queue')]).toEqual(['default', 'filled']);
    const known = page.getByRole('checkbox', { name: /^Start anyway/ });
    if ((await known.count()) > 0) await known.check();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    const refused = page.getByRole('alert').filter({ hasText: 'The stage was not started' });
    await refused.getByText(/No room for another run: .* is training and the settings allow 1/).waitFor();
    await refused.getByText(/Add it to the queue, stop the other/).waitFor();
    await expectAccessible(page);
    await check.getByRole('button', { name: 'Add to queue' }).click();
    await page.getByRole('button', { name: 'Remove Second from the queue' }).waitFor();

    // The order of the queue is the user's, by dragging and by keyboard.
    await client.stages.enqueue({ stageId: 3 });
    const waiting = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: /from the queue$/ }) });
    await expect.poll(() => waiting.allTextContents(), patient).toEqual(['Second', 'Third']);
    await waiting.nth(1).dragTo(waiting.nth(0));
    await expect.poll(() => waiting.allTextContents(), patient).toEqual(['Third', 'Second']);
    await page.getByRole('button', { name: /^Move Third in the queue/ }).press('ArrowRight');
    await expect.poll(() => waiting.allTextContents(), patient).toEqual(['Second', 'Third']);
    await page.getByRole('button', { name: 'Remove Third from the queue' }).click();
    // A stage whose run is paused says so.
    await client.runs.pause({ runId });
    await page.getByRole('button', { name: /^2 First paused/ }).waitFor();
    await client.runs.resume({ runId });
    expect(complaints).toEqual([]);

    await app.stop();
    const { page: later, complaints: laterComplaints } = await openPage(await startApp(workspace));
    await later
      .getByText(/The queue is paused\. "First": Stopped at step \d+ of 4000, when Braid was closed/)
      .waitFor();
    await later.getByRole('button', { name: 'Start Second anyway' }).waitFor();
    await expectAccessible(later);
    await later.getByRole('button', { name: 'Resume First' }).click();
    await later.getByRole('link', { name: '1 queued', exact: true }).waitFor();
    await later.getByText('The queue is paused').waitFor({ state: 'detached' });
    expect(laterComplaints).toEqual([]);
  }, 360_000);
});

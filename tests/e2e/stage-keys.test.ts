/** On Curriculum, the key S does what the filled button says, and a repair adds no stage. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { fillOf, openPage, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

/** A stage that is done, and a planned one after it; with `lost`, one more without a dataset. */
function workspaceOfTwo({ lost = false } = {}): string {
  const workspace = temporaryFolderOfFile();
  const file = writeTinyDataset(join(workspace, 'datasets', 'tiny.jsonl'), { words: 10, train: 4, test: 4 });
  const store = openStore(join(workspace, 'braid.db'));
  const facts = { task: 'interleave', words: 10, trainN: 4, testN: 4, seed: 3, template: null, textHash: null };
  const datasetId = store.datasets.record({ name: 'tiny', file, ...facts });
  const config = { per_device_train_batch_size: 8, num_generations: 4, threads: 1 };
  const shared = { words: 10, datasetId, steps: 1, promotion: null, config };
  const first = store.stages.add({ ...shared, name: 'First', position: 0 });
  store.stages.add({ ...shared, name: 'Second', position: 1 });
  if (lost) store.stages.add({ ...shared, name: 'Third', position: 2, datasetId: null });
  store.stages.setState(first, 'done');
  store.close();
  return workspace;
}

describe.skipIf(noBrowser)('the key S on Curriculum', () => {
  it('checks the next stage where the button says so, not the finished one again', async () => {
    const app = await startApp(workspaceOfTwo());
    const { page, goto, complaints } = await openPage(app);
    page.setDefaultTimeout(60_000);
    await goto('/curriculum?stage=1');
    await expect.poll(() => fillOf(page.getByRole('button', { name: 'Start Second' }))).toBe('suggested');
    await expect.poll(() => fillOf(page.getByRole('button', { name: 'Start again' }))).toBe('plain');
    await page.keyboard.press('s');
    await page.waitForURL(/stage=2/);
    await page.getByText('Rewards differ').first().waitFor({ timeout: 180_000 });
    expect(complaints).toEqual([]);
  }, 300_000);
});

describe.skipIf(noBrowser)('Make missing datasets', () => {
  it('restores what the stages lack, and adds none', async () => {
    const { page, goto, complaints } = await openPage(await startApp(workspaceOfTwo({ lost: true })));
    await goto('/curriculum');
    await page.getByRole('button', { name: 'Make missing datasets' }).click();
    // Offered only where nothing is lacking and not every length has a stage.
    await page.getByRole('button', { name: 'Plan all lengths' }).waitFor({ timeout: 120_000 });
    expect(await page.getByText('no dataset yet').count()).toBe(0);
    // The first stage can't move earlier: keys reach what can be done.
    await goto('/curriculum?stage=1');
    await page.getByRole('button', { name: 'More actions for this stage' }).press('Enter');
    const later = page.getByRole('menuitem', { name: 'Move later' });
    await expect.poll(() => later.evaluate((item) => item === document.activeElement)).toBe(true);
    expect(complaints).toEqual([]);
  }, 180_000);
});

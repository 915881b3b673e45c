/** Test records that repeat training records: every screen that uses the dataset says so. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { connectTo } from './api.ts';
import { expectAccessible, openPage, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

const WARNING = /4 of 4 test pairs repeat words of training pairs/;

/** A stage on a dataset whose four test pairs are training pairs; the app hasn't looked yet. */
function leakyWorkspace(): string {
  const workspace = temporaryFolderOfFile();
  const file = writeTinyDataset(join(workspace, 'datasets', 'leaky.jsonl'), { words: 10, train: 4, test: 4 });
  writeFileSync(file.replace('.jsonl', '.test.jsonl'), readFileSync(file));
  const store = openStore(join(workspace, 'braid.db'));
  const facts = { task: 'interleave', words: 10, trainN: 4, testN: 4, seed: 3, template: null, textHash: null };
  const datasetId = store.datasets.record({ name: 'leaky', file, ...facts });
  const config = { per_device_train_batch_size: 8, num_generations: 4, threads: 1 };
  store.stages.add({ name: 'First', position: 0, words: 10, datasetId, steps: 1, promotion: null, config });
  store.close();
  return workspace;
}

describe.skipIf(noBrowser)('what test and training records share', () => {
  it('is kept with the dataset and shown at datasets, stage, pre-flight check and Compare', async () => {
    const app = await startApp(leakyWorkspace());
    const { page, goto, complaints } = await openPage(app);
    page.setDefaultTimeout(60_000);
    const client = await connectTo(app);
    const dataset = async () => (await client.datasets.list())[0];
    await goto('/texts/datasets');
    await page.getByText('not checked').waitFor();
    await page.getByRole('link', { name: 'leaky' }).click();
    await page.getByText(/Not held out:/).waitFor();
    await expect.poll(async () => (await dataset())?.leakage?.pairs).toBe(4);

    await goto('/texts/datasets');
    await page.getByTitle(WARNING).waitFor();
    await goto('/curriculum?stage=1');
    await page.getByText(WARNING).waitFor();
    await goto('/compare');
    await page.getByText(WARNING).waitFor();
    await page.getByText('Models trained on it score too high here.').waitFor();
    await expectAccessible(page);

    await goto('/curriculum?stage=1');
    await page.getByRole('button', { name: 'Start stage' }).click();
    await page
      .getByRole('listitem')
      .filter({ hasText: /WARN.*Held-out records.*4 test pairs repeat/s })
      .waitFor({ timeout: 180_000 });
    expect(complaints).toEqual([]);
  }, 300_000);
});

/** Stages that need no training, or can't be trained: said by the pre-flight check, with a button for either. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { promotionSchema } from '../../main/services/runs/promotion.ts';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { connectTo } from './api.ts';
import { expectAccessible, openPage, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

/** Two stages: the first's rule is met by any score, the second's texts have words without tokens. */
function workspaceOfTwo(): string {
  const workspace = temporaryFolderOfFile();
  const store = openStore(join(workspace, 'braid.db'));
  const config = { per_device_train_batch_size: 8, num_generations: 4, threads: 1 };
  const facts = { task: 'interleave', words: 4, trainN: 6, testN: 3, seed: 3, template: null, textHash: null };
  for (const [position, name] of ['plain', 'foreign'].entries()) {
    const file = writeTinyDataset(join(workspace, 'datasets', `${name}.jsonl`), { words: 4, train: 6, test: 3 });
    if (name === 'foreign')
      for (const side of [file, file.replace('.jsonl', '.test.jsonl')])
        writeFileSync(side, readFileSync(side, 'utf8').replaceAll('wa', 'мир'));
    const datasetId = store.datasets.record({ name, file, ...facts });
    const promotion = promotionSchema.parse({ at_least: 0 });
    store.stages.add({ name, position, words: 4, datasetId, steps: 1, promotion, config });
  }
  store.close();
  return workspace;
}

describe.skipIf(noBrowser)('a stage that needs no training', () => {
  it('is counted as met in its pre-flight check; one that the model can not write starts when the user agrees', async () => {
    const app = await startApp(workspaceOfTwo());
    const { page, goto, complaints } = await openPage(app);
    page.setDefaultTimeout(120_000);
    const client = await connectTo(app);
    await goto('/curriculum?stage=1');
    await page.getByRole('button', { name: 'Start stage' }).click();
    const count = page.getByRole('button', { name: 'Count as met, go to the next stage' });
    await count.waitFor();
    await page.getByText('It meets its rule before it is trained').waitFor();
    await expectAccessible(page);
    await count.click();
    await page.getByRole('button', { name: /plain.*met without training/ }).waitFor();
    await expectAccessible(page);
    const { stages } = await client.stages.list();
    expect(stages[0]).toMatchObject({ state: 'done', run: null, metScore: expect.any(Number) });

    // The next one is selected.
    await page.getByRole('heading', { name: /^foreign/ }).waitFor();
    await page.getByRole('button', { name: 'Start stage' }).click();
    await page
      .getByRole('listitem')
      .filter({ hasText: /FAIL.*Words.*such as "мир"/s })
      .waitFor();
    await page.getByRole('checkbox', { name: /^Start anyway: .*“Words”/ }).check();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect.poll(async () => (await client.stages.list()).stages[1]?.state, { timeout: 120_000 }).toBe('done');
    expect((await client.stages.list()).stages[1]?.config).toMatchObject({ allow_unwritable_words: true });
    expect(complaints).toEqual([]);
  }, 400_000);
});

/** A stage whose model knows nothing of the task: its pre-flight check leads to a warm-up, and the run shows it. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { connectTo } from './api.ts';
import { expectAccessible, openPage, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

/** One stage, of a model with random weights. */
async function workspaceOfOne(): Promise<string> {
  const workspace = temporaryFolderOfFile();
  const model = join(workspace, 'models', 'untrained');
  await writeTinyModel(model);
  const store = openStore(join(workspace, 'braid.db'));
  const file = writeTinyDataset(join(workspace, 'datasets', 'ten.jsonl'), { words: 10, train: 12, test: 3 });
  const facts = { task: 'interleave', words: 10, trainN: 12, testN: 3, seed: 3, template: null, textHash: null };
  const datasetId = store.datasets.record({ name: 'ten', file, ...facts });
  const config = {
    model,
    per_device_train_batch_size: 8,
    num_generations: 4,
    threads: 1,
    // Completions of a group are all alike, so that there is nothing to learn from.
    top_k: 1,
    warm_up_learning_rate: 0.02,
    warm_up_batch_size: 4,
    backend: 'wasm',
  };
  store.stages.add({ name: 'first', position: 0, words: 10, datasetId, steps: 4, promotion: null, config });
  store.close();
  return workspace;
}

describe.skipIf(noBrowser)('a warm-up', () => {
  it('is one click in the pre-flight check, a field of the form, and a phase of the curves', async () => {
    const app = await startApp(await workspaceOfOne());
    const { page, goto, complaints } = await openPage(app);
    page.setDefaultTimeout(40_000);
    const client = await connectTo(app);
    await goto('/curriculum?stage=1');
    await page.getByRole('button', { name: 'Start stage' }).click();
    await page.getByText(/^Warm up first, by 15 supervised steps on the targets/).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Warm up first' }).click();
    // The stage is checked again, as what it is now.
    await page.getByText(/^Start: .* 15 supervised steps on the targets come first/).waitFor();
    await page.getByText(/15 of the warm-up of/).waitFor();
    await expectAccessible(page);
    const { stages } = await client.stages.list();
    expect(stages[0]?.config).toMatchObject({ warm_up_steps: 15 });

    await page.getByRole('button', { name: 'Adjust', exact: true }).first().click();
    const field = page.getByRole('textbox', { name: 'warm_up_steps' });
    await expect.poll(() => field.inputValue()).toBe('15');
    await page.getByRole('button', { name: 'Cancel' }).click();

    const { runId } = await client.stages.start({ stageId: 1 });
    await expect.poll(async () => (await client.stages.list()).stages[0]?.state, { timeout: 120_000 }).toBe('done');
    const detail = await client.runs.get({ runId });
    expect(detail).toMatchObject({ step: 19, maxSteps: 19 });
    await goto(`/runs/${runId}`);
    await page.getByText('Warm-up loss').first().waitFor();
    await page
      .getByText(/The warm-up of 15 steps is done/)
      .first()
      .waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  }, 300_000);
});

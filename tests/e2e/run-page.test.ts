/** The page of a finished run of a stage, and what leads on from it. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { addStage } from '../../main/services/curriculum/edit.ts';
import { promotionSchema } from '../../main/services/runs/promotion.ts';
import { changeSettings } from '../../main/services/workspace/settings.ts';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../store/helpers.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { connectTo } from './api.ts';
import { openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { seedRun } from './seed-runs.ts';

describe.skipIf(noBrowser)("a run's page", () => {
  let app: RunningApp;
  beforeAll(async () => {
    const workspace = temporaryFolderOfFile();
    const store = openStore(join(workspace, 'braid.db'));
    const file = writeTinyDataset(join(workspace, 'datasets', '2words.jsonl'));
    const row = { name: '2words', file, task: 'interleave', words: 2, trainN: 12, testN: 4, seed: 3 };
    const datasetId = store.datasets.record({ ...row, template: null, textHash: null });
    const promotion = promotionSchema.parse({ at_least: 0.75 });
    const stageId = addStage(store, { name: 'first words', words: 2, datasetId, promotion });
    const { runId } = seedRun(store, { steps: 40, stageId, config: { dataset: file } });
    for (const [step, mean] of [
      [20, 0.7],
      [40, 0.8],
    ] as const)
      store.evaluations.add(
        {
          ...{ runId, checkpointId: null, model: 'tiny', dataset: file, step, n: 4, mean, low: mean - 0.1 },
          ...{ high: mean + 0.1, exactMatch: 0.5, metrics: {}, duringTraining: true },
        },
        [],
      );
    seedRun(store, { steps: 10, config: { task: 'reply', dataset: file } });
    changeSettings(store, { hourly_price: 90, run_queue: false });
    store.close();
    app = await startApp(workspace);
  });

  it('copies a chart as an image, and saves it', async () => {
    const { page, goto } = await openPage(app);
    await goto('/runs/1');
    const act = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: 'Reward: actions', exact: true }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await act('Copy as image');
    await page
      .getByText(/^(Copied|Saved)$/)
      .first()
      .waitFor();
    const download = page.waitForEvent('download');
    await act('Save as PNG');
    expect((await download).suggestedFilename()).toBe('Reward.png');
  });

  it('leads to a clone, a sweep, and a run of its own task', async () => {
    const { page, goto, complaints } = await openPage(app);
    const client = await connectTo(app);
    await goto('/runs/1');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Clone with changes …' }).click();
    const form = page.getByRole('dialog', { name: 'New run' });
    await form.getByLabel('Name').fill('the clone');
    await form.getByLabel('Find a setting').fill('learning_rate');
    await form.getByLabel('learning_rate', { exact: true }).fill('0.002');
    await form.getByRole('button', { name: 'Queue without a check' }).click();
    await expect.poll(async () => (await client.queue.list()).places.map(({ name }) => name)).toEqual(['the clone']);

    await goto('/runs/1');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Sweep from this run …' }).click();
    const sweep = page.getByRole('dialog', { name: 'New sweep' });
    await sweep.getByText('Same settings as run 1').waitFor();
    expect(await sweep.getByLabel('Name').inputValue()).toBe('Sweep of run 1');
    await sweep.getByText('1 setting, 3 runs, 120 steps').waitFor();
    await sweep.getByRole('button', { name: 'Cancel' }).click();
    await sweep.waitFor({ state: 'detached' });

    await goto('/runs/2');
    await page.getByRole('row', { name: /^10 / }).getByRole('button', { name: 'Train from this' }).click();
    await form.getByText('Same settings as run 2').waitFor();
    await form.getByLabel('Find a setting').fill('from_checkpoint');
    expect(await form.getByLabel('from_checkpoint').inputValue()).toMatch(/checkpoint-10$/);
    expect(complaints).toEqual([]);
  });

  it('duplicates a stage after itself, and finds the run by the palette', async () => {
    const { page, goto, complaints } = await openPage(app);
    const client = await connectTo(app);
    await goto('/curriculum?stage=1');
    await page.getByRole('button', { name: 'More actions for this stage' }).click();
    await page.getByRole('menuitem', { name: 'Duplicate' }).click();
    await expect
      .poll(async () => (await client.stages.list()).stages.map(({ name, words, steps }) => [name, words, steps]))
      .toEqual([
        ['first words', 2, 60],
        ['first words copy', 2, 60],
      ]);
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/^Search actions/).fill('second-text');
    // Tasks and runs come from the host.
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /second-text/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'second-text' }).waitFor();
    expect(complaints).toEqual([]);
  });
});

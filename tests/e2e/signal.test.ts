import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../store/helpers.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { expectAccessible, openPage, picture, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { seedRun } from './seed-runs.ts';

describe.skipIf(noBrowser)('the signal budget', () => {
  let app: RunningApp;
  beforeAll(async () => {
    const workspace = temporaryFolderOfFile();
    const dataset = writeTinyDataset(join(workspace, 'datasets', '2words.jsonl'));
    const store = openStore(join(workspace, 'braid.db'));
    seedRun(store, { steps: 20, config: { dataset } });
    seedRun(store, { steps: 20, config: { dataset, adarft_target_reward: 0.9 } });
    store.close();
    app = await startApp(workspace);
  });

  it('shows what each setting would have saved, and puts one into the next run', async () => {
    const { page, goto, complaints } = await openPage(app);
    await goto('/runs/1');
    const rowOf = (setting: string) => page.getByRole('row').filter({ hasText: setting });
    const offer = (setting: string) => page.getByRole('button', { name: `Use in the next run …: ${setting}` });
    await rowOf('pods_update_size')
      .getByText(/^Would have saved about/)
      .waitFor();
    // Every second group is dead.
    await page.getByText(/% of the time of its steps/).waitFor();
    await rowOf('scale_rewards')
      .getByText(/^Can’t be known from this run’s history: it changes/)
      .waitFor();
    await rowOf('use_adaptive_entropy')
      .getByText(/^Can’t be known from this run’s history: it changes/)
      .waitFor();
    // The seeded groups aren't of this dataset.
    await rowOf('adarft_target_reward')
      .getByText(/^Can’t be known from this run’s history: its dataset/)
      .waitFor();
    await expectAccessible(page);
    await offer('dynamic_sampling').scrollIntoViewIfNeeded();
    await picture(page, 'signal-budget');
    await offer('dynamic_sampling').click();
    const form = page.getByRole('dialog', { name: 'New run' });
    await form.getByRole('button', { name: 'Start run' }).waitFor();
    await form.getByText('Only changed (1)', { exact: true }).waitFor();
    await expect.poll(() => form.getByLabel('dynamic_sampling', { exact: true }).inputValue()).toBe('3');
    await expect.poll(() => form.getByLabel('Name', { exact: true }).inputValue()).toMatch(/ dynamic_sampling 3( |$)/);
    expect(complaints).toEqual([]);
  });

  it('says what a run with AdaRFT rules out, instead of offering it', async () => {
    const { page, goto, complaints } = await openPage(app);
    await goto('/runs/2');
    const rowOf = (setting: string) => page.getByRole('row').filter({ hasText: setting });
    for (const setting of ['dynamic_sampling', 'greso_exploration']) {
      await rowOf(setting).getByText('Not possible beside adarft_target_reward, which this run sets.').waitFor();
      expect(await page.getByRole('button', { name: `Use in the next run …: ${setting}` }).count()).toBe(0);
    }
    await page.getByText('In use.', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Use in the next run …: pods_update_size' }).waitFor();
    await picture(page, 'signal-budget-adarft');
    expect(complaints).toEqual([]);
  });
});

/** A finished run of a stage: its page, its place in the list of runs, and what leads on from it. */
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { addStage } from '../../main/services/curriculum/edit.ts';
import { promotionSchema } from '../../main/services/runs/promotion.ts';
import { changeSettings } from '../../main/services/workspace/settings.ts';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { connectTo } from './api.ts';
import { expectAccessible, type OpenPage, openPage, picture, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { failCalls } from './failing-calls.ts';
import { boxOf } from './pointer.ts';
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
          runId,
          checkpointId: null,
          model: 'tiny',
          step,
          n: 4,
          mean,
          low: mean - 0.1,
          high: mean + 0.1,
          // On the held-out records beside its own: only those count towards its goal.
          dataset: file.replace('.jsonl', '.test.jsonl'),
          exactMatch: 0.5,
          metrics: {},
          duringTraining: true,
        },
        [],
      );
    seedRun(store, { steps: 10, config: { task: 'reply', dataset: file } });
    seedRun(store, { steps: 20, config: { dataset: file } });
    seedRun(store, { steps: 20, config: { dataset: file, adarft_target_reward: 0.9 } });
    changeSettings(store, { hourly_price: 90, run_queue: false });
    store.close();
    app = await startApp(workspace);
  });

  describe('on one page', () => {
    let opened: OpenPage;
    beforeAll(async () => {
      opened = await openPage(app);
    });

    it('says above the reward how far the held-out score is from the goal, what was gained and what it cost', async () => {
      const { page, goto, complaints } = opened;
      await goto('/runs/1');
      const figure = (name: string) =>
        page
          .getByRole('term')
          .filter({ hasText: new RegExp(`^${name}$`) })
          .locator('xpath=following-sibling::dd');
      const heldOut = figure('Held-out');
      await expect.poll(() => heldOut.innerText()).toMatch(/^0\.800\s+goal 0\.75$/);
      await expect.poll(() => figure('Gain').innerText()).toMatch(/^\+0\.300\s+baseline 0\.500$/);
      // 40 steps of a second, at 90 an hour.
      await expect.poll(() => figure('Trained for').innerText()).toMatch(/^40 s\s+40 of 40 steps$/);
      await expect.poll(() => figure('Cost').innerText()).toMatch(/^\$1\.00\s+in total$/);
      const isAbove = async (what: Locator, below: Locator) => (await boxOf(what)).y < (await boxOf(below)).y;
      const chart = page.getByRole('slider', { name: /^Reward, step/ });
      await chart.waitFor();
      await expect.poll(() => isAbove(heldOut, chart)).toBe(true);
      await expect.poll(() => isAbove(page.getByRole('region', { name: 'Verdict on the signal' }), chart)).toBe(true);
      await expectAccessible(page);
      expect(complaints).toEqual([]);
    });

    it('says what a run with AdaRFT rules out, instead of offering it', async () => {
      const { page, goto, complaints } = opened;
      await goto('/runs/4');
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

    it('copies a chart as an image, and saves it', async () => {
      const { page, goto } = opened;
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

    it('keeps notes that are being typed, through Back and a reload', async () => {
      const { page, goto, complaints } = opened;
      const client = await connectTo(app);
      const notes = async () => (await client.runs.get({ runId: 1 })).notes;
      const box = page.getByRole('textbox', { name: 'Notes' });
      await goto('/runs');
      await goto('/runs/1');
      await box.fill('A higher learning rate');
      // No blur, and not the pause after which it saves.
      await page.goBack();
      await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
      await expect.poll(notes).toBe('A higher learning rate');
      await goto('/runs/1');
      await box.fill('A higher learning rate helped');
      await page.reload();
      await expect.poll(() => box.inputValue()).toBe('A higher learning rate helped');
      await box.press('End');
      await page.keyboard.type('.');
      await expect.poll(notes).toBe('A higher learning rate helped.');
      expect(complaints).toEqual([]);
    });

    it('duplicates a stage after itself, and finds the run by the palette', async () => {
      const { page, goto, complaints } = opened;
      const client = await connectTo(app);
      await goto('/curriculum?stage=1');
      await page.getByRole('button', { name: 'More actions for this stage' }).click();
      await page.getByRole('menuitem', { name: 'Duplicate' }).click();
      await expect
        .poll(async () => (await client.stages.list()).stages.map(({ name, words, steps }) => [name, words, steps]))
        .toEqual([
          ['first words', 2, 40],
          ['first words copy', 2, 40],
        ]);
      await page.keyboard.press('Control+k');
      await page.getByPlaceholder(/^Search actions/).fill('second-text');
      // Tasks and runs come from the host.
      await page.locator('[data-selected]', { hasText: 'second-text' }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'second-text' }).waitFor();
      expect(complaints).toEqual([]);
    });
  });

  it('says why time, cost and the comparison are missing, and shows them after another try', async () => {
    const { page, goto } = await openPage(app);
    const why = { message: 'The disk is gone.', remedy: 'Connect it again.' };
    const failing = await failCalls(page, ['/runs/cost', '/datasets/list'], why);
    await page.reload();
    await goto('/runs/1');
    const alert = (what: string) => page.getByRole('alert').filter({ hasText: what });
    for (const what of ["Time and cost can't be shown", "The comparison can't be prepared"]) {
      await alert(what).getByText(why.message).waitFor();
      await alert(what).getByText(why.remedy).waitFor();
      await alert(what).getByRole('button', { name: 'Try again' }).waitFor();
    }
    await expectAccessible(page);
    failing.stop();
    await alert('Time and cost').getByRole('button', { name: 'Try again' }).press('Enter');
    await page
      .getByRole('term')
      .filter({ hasText: /^Cost$/ })
      .waitFor();
    // Its button may be gone already: other parts of the page ask for the datasets too.
    await page.reload();
    await page
      .getByRole('term')
      .filter({ hasText: /^Cost$/ })
      .waitFor();
    await alert('The comparison').waitFor({ state: 'detached' });
  });

  it('stands in the list of runs under its stage, in the columns that the user chose, over a reload', async () => {
    // Wide enough for every default column.
    const { page, goto, complaints } = await openPage(app, { width: 1400, height: 800 });
    await goto('/runs');
    const view = page.getByRole('button', { name: 'View', exact: true });
    const column = (name: string) => page.getByRole('columnheader', { name, exact: true });
    await column('Dataset').waitFor();
    // What a smaller window leaves out is not chosen in the menu either.
    await page.setViewportSize({ width: 1200, height: 800 });
    await expect.poll(() => column('Dataset').count()).toBe(0);
    await view.click();
    const shown = page.getByRole('group', { name: 'Columns' });
    const choice = (name: string) => shown.getByRole('menuitemcheckbox', { name, exact: true });
    await expect.poll(() => choice('Dataset').getAttribute('aria-checked')).toBe('false');
    await expect.poll(() => choice('Gain').getAttribute('aria-checked')).toBe('true');
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 1400, height: 800 });
    await column('Dataset').waitFor();
    await view.click();
    const byStage = page.getByRole('group', { name: 'Group by' }).getByRole('menuitemradio', { name: 'stage' });
    await byStage.click();
    await choice('Cost').click();
    await choice('Dataset').click();
    // The menu stays open for more, and says what is chosen.
    await expect.poll(() => byStage.getAttribute('aria-checked')).toBe('true');
    await expect.poll(() => choice('Dataset').getAttribute('aria-checked')).toBe('false');
    await expectAccessible(page);
    await page.keyboard.press('Escape');

    for (const isAgain of [false, true]) {
      if (isAgain) await page.reload();
      await page.getByRole('rowheader', { name: /^first words 1 run · held-out 0\.800$/ }).waitFor();
      await page.getByRole('rowheader', { name: /^free runs 3 runs$/ }).waitFor();
      await column('Cost').waitFor();
      expect(await column('Dataset').count()).toBe(0);
    }
    // By keyboard, the first choice has the focus.
    await view.press('Enter');
    const none = page.getByRole('menuitemradio', { name: 'none' });
    await expect.poll(() => none.evaluate((item) => item === document.activeElement)).toBe(true);
    await page.getByRole('menuitem', { name: 'Reset' }).click();
    await column('Dataset').waitFor();
    expect(await page.getByRole('rowheader').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('shows what each setting would have saved, and puts one into the next run', async () => {
    const { page, goto, complaints } = await openPage(app);
    await goto('/runs/3');
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
    await form.getByRole('button', { name: 'Add to queue without a check' }).click();
    await expect.poll(async () => (await client.queue.list()).places.map(({ name }) => name)).toEqual(['the clone']);
    // The page goes there once it knows: an address given before that would be left again.
    await page.getByRole('heading', { level: 1, name: 'Experiments' }).waitFor();

    await goto('/runs/1');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Sweep from this run …' }).click();
    const sweep = page.getByRole('dialog', { name: 'New sweep' });
    await sweep.getByText('Same settings as run 1').waitFor();
    await expect.poll(() => sweep.getByLabel('Name').inputValue()).toBe('Sweep of run 1');
    await sweep.getByText('1 setting, 3 runs, 120 steps').waitFor();
    await sweep.getByRole('button', { name: 'Cancel' }).click();
    await sweep.waitFor({ state: 'detached' });

    await goto('/runs/2');
    await page.getByRole('row', { name: /^10 / }).getByRole('button', { name: 'Train from this' }).click();
    await form.getByText('Same settings as run 2').waitFor();
    await form.getByLabel('Find a setting').fill('from_checkpoint');
    await expect.poll(() => form.getByLabel('from_checkpoint').inputValue()).toMatch(/checkpoint-10$/);
    expect(complaints).toEqual([]);
  });
});

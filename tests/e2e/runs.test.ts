import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { connectTo } from './api.ts';
import { expectAccessible, type OpenPage, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { type Box, pointAtChart } from './pointer.ts';
import { seedRun } from './seed-runs.ts';

/** A pre-flight check trains a few steps: minutes where all cores are busy. */
const CHECK = { timeout: 180_000 };

const stderr = 'The trainer process ended with SIGKILL: loading the model\nRangeError: out of memory';

describe.skipIf(noBrowser)('runs', () => {
  let app: RunningApp;
  let dataset: string;
  beforeAll(async () => {
    const workspace = temporaryFolderOfFile();
    const store = openStore(join(workspace, 'braid.db'));
    const first = seedRun(store, { steps: 40 });
    seedRun(store, {
      steps: 40,
      config: { from_checkpoint: join(first.folder, 'checkpoint-30'), learning_rate: 1e-5, beta: 0.04 },
    });
    seedRun(store, { steps: 25, config: { max_steps: 60 }, interrupted: stderr });
    seedRun(store, { steps: 1 });
    seedRun(store, { steps: 1 });
    dataset = writeTinyDataset(join(workspace, 'datasets', '2words.jsonl'));
    const row = { file: dataset, task: 'interleave', words: 2, trainN: 12, testN: 4, seed: 3 };
    store.datasets.record({ ...row, name: '2words', template: null, textHash: null });
    store.close();
    app = await startApp(workspace);
  });

  describe('the list', () => {
    it('finds, sorts, overlays and compares', async () => {
      const { page, goto, complaints } = await openPage(app);
      await goto('/runs');
      const rows = page
        .locator('tbody')
        .getByRole('row')
        .filter({ has: page.getByRole('checkbox') });
      await expect.poll(() => rows.count()).toBe(5);
      await page.keyboard.press('/');
      await page.keyboard.type('run-0003');
      await expect.poll(() => rows.count()).toBe(1);
      await page.getByLabel('Find runs').fill('');
      await page.getByRole('button', { name: 'Steps' }).click();
      await expect
        .poll(() => page.getByRole('columnheader', { name: 'Steps' }).getAttribute('aria-sort'))
        .toBe('descending');
      await page.getByLabel('Select run-0001-10words-grpo').click();
      await page.getByLabel('Select run-0002-10words-grpo').click();
      await page.getByText('Configuration differences').waitFor();
      await page.getByRole('rowheader', { name: 'learning_rate' }).waitFor();
      await page.getByRole('rowheader', { name: 'beta' }).waitFor();
      expect(await page.getByRole('rowheader', { name: 'max_steps' }).count()).toBe(0);
      await expectAccessible(page);
      // Where the system chooses the colours, what is chosen is still seen.
      await page.emulateMedia({ forcedColors: 'active' });
      const chosen = page.getByRole('radiogroup', { name: 'State' }).locator('label').filter({ hasText: 'all' });
      expect(await chosen.evaluate((label) => getComputedStyle(label).outlineStyle)).toBe('solid');
      await page.emulateMedia({ forcedColors: null });
      expect(complaints).toEqual([]);
    });

    it('keeps the filter on the way back, saves what is shown, and deletes several runs at once', async () => {
      const { page, goto, complaints } = await openPage(app);
      await goto('/runs');
      await page.getByLabel('Find runs').fill('run-0005');
      await page.getByRole('link', { name: 'run-0005-10words-grpo' }).click();
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Clone with changes' }).click();
      const form = page.getByRole('dialog', { name: 'New run' });
      await expect.poll(() => form.getByLabel('Name', { exact: true }).inputValue()).toBe('run-0005-10words-grpo copy');
      await page.keyboard.press('Escape');
      await goto('/runs');
      await expect.poll(() => page.getByLabel('Find runs').inputValue()).toBe('run-0005');
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'CSV' }).click();
      expect((await saving).suggestedFilename()).toBe('runs.csv');
      await page.getByLabel('Select all runs shown').click();
      const remove = page.getByRole('button', { name: 'Delete 1 …' });
      const dialog = page.getByRole('dialog', { name: 'Delete 1 run?' });
      await remove.press('Enter');
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      // Who works by keyboard is where they were.
      await expect.poll(() => remove.evaluate((button) => button === document.activeElement)).toBe(true);
      await remove.click();
      await dialog.getByText('run-0005-10words-grpo').waitFor();
      await expectAccessible(page);
      await dialog.getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No matching runs').waitFor();
      await page.getByLabel('Find runs').fill('');
      await page.getByRole('link', { name: 'run-0003-10words-grpo' }).waitFor();
      expect(complaints).toEqual([]);
    });

    it('renames, and deletes only after naming what is deleted', async () => {
      const { page, goto } = await openPage(app);
      await goto('/runs');
      await page.getByLabel('Actions for run-0001-10words-grpo').click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('the metrics of 40 steps').waitFor();
      await dialog.getByText('the checkpoints of step 10, 20, 30, 40').waitFor();
      await dialog.getByText('Other runs started from its checkpoints').waitFor();
      await dialog.getByRole('link', { name: 'run-0002-10words-grpo' }).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.getByLabel('Actions for run-0003-10words-grpo').click();
      await page.getByRole('menuitem', { name: 'Rename' }).click();
      await page.getByLabel('Name', { exact: true }).fill('the one that failed');
      // Not by accident: what was typed would be lost.
      const question = page.getByRole('dialog', { name: 'Discard your changes?' });
      for (const leave of [() => page.keyboard.press('Escape'), () => page.mouse.click(5, 795)]) {
        await leave();
        await question.getByRole('button', { name: 'Keep editing' }).click();
        await question.waitFor({ state: 'detached' });
      }
      await page.getByLabel('Name', { exact: true }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'the one that failed' }).waitFor();
      // By keyboard one goes back to the button, though the item of its menu that opened the dialog is gone.
      const actions = page.getByLabel('Actions for run-0002-10words-grpo');
      await actions.press('Enter');
      await page.getByRole('menuitem', { name: 'Rename' }).press('Enter');
      await page.getByRole('dialog', { name: 'Rename run-0002-10words-grpo' }).waitFor();
      await page.keyboard.press('Escape');
      await expect.poll(() => actions.evaluate((button) => button === document.activeElement)).toBe(true);
    });
  });

  describe('a past run', () => {
    it('draws its charts in the colours of the theme, with the smoothing of the settings', async () => {
      const { page, goto, complaints } = await openPage(app);
      const client = await connectTo(app);
      await goto('/runs/2');
      await page.getByText('Smoothing').waitFor();
      await expect.poll(() => page.getByRole('slider', { name: 'Smoothing' }).inputValue()).toBe('0.6');
      await client.settings.set({ smoothing: 0.2 });
      await expect.poll(() => page.getByRole('slider', { name: 'Smoothing' }).inputValue()).toBe('0.2');
      const [light, dark] = [[0x0f, 0x76, 0x6e] as const, [0x2d, 0xd4, 0xbf] as const];
      await expect.poll(() => drawn(page, light)).toBeGreaterThan(100);
      // Changed while no chart is open, and while one is.
      await goto('/settings');
      await client.settings.set({ theme: 'dark' });
      await page.locator('html[data-mantine-color-scheme="dark"]').waitFor();
      await goto('/runs/2');
      await expect.poll(() => drawn(page, dark)).toBeGreaterThan(100);
      expect(await drawn(page, light)).toBe(0);
      await client.settings.set({ theme: 'light' });
      await expect.poll(() => drawn(page, light)).toBeGreaterThan(100);
      // A single step is a point.
      await goto('/runs/4');
      await page.getByRole('heading', { name: 'run-0004-10words-grpo' }).waitFor();
      await expect.poll(() => drawn(page, light)).toBeGreaterThan(8);
      // Nothing is promised of a run that has ended.
      await page.getByText('–baseline 0.500', { exact: true }).waitFor();
      await page.getByText('None were saved.').waitFor();
      await page.getByText('No advice: nothing stands out.', { exact: true }).waitFor();
      expect(complaints).toEqual([]);
    });

    describe('on one page', () => {
      let opened: OpenPage;
      beforeAll(async () => {
        opened = await openPage(app);
      });

      it('shows verdict, charts, events, checkpoints and configuration', async () => {
        const { page, goto, complaints } = opened;
        await goto('/runs/2');
        await page.getByText('learning:').waitFor();
        await page.getByText('1 of 16 groups is dead').or(page.getByText('groups are dead, which is fine')).waitFor();
        await page.getByRole('link', { name: 'run-0001-10words-grpo' }).waitFor();
        await page.getByRole('navigation', { name: 'Lineage' }).getByText('at step 30').waitFor();
        await page.getByText('Lower the learning rate.').first().waitFor();
        const table = page.getByRole('region', { name: 'Reward as a table' });
        await page.getByRole('button', { name: 'Reward: data as table' }).click();
        await expect.poll(() => table.getByRole('row').count()).toBe(41);
        await page.getByRole('button', { name: 'Reward: chart' }).click();
        await expectAccessible(page);
        expect(complaints).toEqual([]);
      });

      it('opens the completions of the step that is clicked, or reached by key', async () => {
        const { page, goto } = opened;
        await goto('/runs/2');
        await page.getByRole('heading', { name: 'Step 40' }).waitFor();
        const reward = page.getByRole('slider', { name: /^Reward, step/ });
        await reward.focus();
        await page.keyboard.press('Home');
        await expect.poll(() => reward.getAttribute('aria-valuetext')).toMatch(/^step 1, train 0\.5/);
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Step 10' }).waitFor();
        await page.getByRole('group', { name: /The best completion/ }).waitFor();
        await pointAtChart(
          page,
          ({ x, y, width }) => page.mouse.click(x + width * 0.49, y + 40),
          page.getByRole('heading', { name: 'Step 20' }),
        );
        await expect
          .poll(() => page.getByRole('link', { name: 'All completions' }).getAttribute('href'))
          .toContain('run=2&step=20');
      });

      it('zooms all charts by a drag and resets by key', async () => {
        const { page, goto } = opened;
        await goto('/runs/2');
        const drag = async ({ x, y, width }: Box): Promise<void> => {
          await page.mouse.move(x + width * 0.25, y + 40);
          await page.mouse.down();
          await page.mouse.move(x + width * 0.5, y + 40, { steps: 4 });
          await page.mouse.up();
        };
        await pointAtChart(page, drag, page.getByRole('button', { name: /Reset zoom \(steps 1\d–2\d\)/ }));
        await page.keyboard.press('z');
        await page.getByRole('button', { name: /Reset zoom/ }).waitFor({ state: 'detached' });
      });
    });

    it('is shared as one file, which opens without a network and shows every stored step', async () => {
      const { page, goto } = await openPage(app);
      await goto('/runs/2');
      await page.getByRole('button', { name: 'Share' }).click();
      const saving = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: 'With all texts' }).click();
      const file = join(temporaryFolderOfFile(), 'run.html');
      await (await saving).saveAs(file);
      // What the app still loads would fail, and isn't the file's.
      await page.goto('about:blank');
      await page.context().setOffline(true);
      const complaints: string[] = [];
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
      await page.goto(pathToFileURL(file).href);
      await page.getByRole('heading', { name: 'run-0002-10words-grpo' }).waitFor();
      await page.getByText('step 40', { exact: true }).first().waitFor();
      await page.getByRole('group', { name: /The best completion/ }).waitFor();
      await page.getByRole('slider', { name: 'Step', exact: true }).press('ArrowLeft');
      await page.getByText('step 30', { exact: true }).first().waitFor();
      await page.getByRole('slider', { name: /^Loss, step/ }).waitFor();
      await page.getByRole('rowheader', { name: 'learning_rate' }).waitFor();
      expect(await page.getByRole('link').count()).toBe(0);
      await expectAccessible(page);
      // Wrong words are buttons.
      await page.emulateMedia({ media: 'print' });
      expect(
        await page
          .getByRole('button', { name: /, wrong, expected/ })
          .first()
          .isVisible(),
      ).toBe(true);
      expect(await page.getByRole('button', { name: 'Next step' }).isVisible()).toBe(false);
      await page.emulateMedia({ media: null });
      expect(complaints).toEqual([]);
    });

    it('shows why it was interrupted, stderr on demand, and what resuming discards', async () => {
      const { page, goto } = await openPage(app);
      await goto('/runs/3');
      const alert = page.getByRole('alert');
      await alert.getByText('The trainer process ended with SIGKILL').waitFor();
      expect(await alert.getByText('RangeError: out of memory').isVisible()).toBe(false);
      await alert.getByText('Details').click();
      await alert.getByText('RangeError: out of memory').waitFor();
      // One button resumes it: two with the same name would be two questions.
      await expect.poll(() => page.getByRole('button', { name: 'Resume from …' }).count()).toBe(1);
      await page.keyboard.press('r');
      const dialog = page.getByRole('dialog');
      await dialog
        .getByText('Everything up to step 20 is kept. Steps 21 to 25 were not saved and will be trained again.')
        .waitFor();
      await dialog.getByLabel('Train to step').fill('20');
      await dialog.getByText('Expected more than 20, the step it starts from').waitFor();
      // A seeded run has its model but not its dataset: the page says so before it is tried.
      await dialog.getByLabel('Train to step').fill('60');
      await dialog.getByText('Its dataset, 10words.jsonl, is missing').waitFor();
      await expect.poll(() => dialog.getByRole('button', { name: 'Resume from step 20' }).isDisabled()).toBe(true);
    });

    it('offers the newest whole checkpoint where a newer one is damaged', async () => {
      const checkpoint = join(app.workspace, 'outputs', 'run-0003-10words-grpo', 'checkpoint-20');
      writeFileSync(join(checkpoint, 'rng.json'), '{}');
      writeFileSync(join(checkpoint, 'checksums.sha256'), `${'0'.repeat(64)}  rng.json\n`);
      const { page, goto } = await openPage(app);
      await goto('/runs/3');
      await page.getByRole('alert').getByText('The trainer process ended with SIGKILL').waitFor();
      await page.keyboard.press('r');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('The checkpoint of step 20 is damaged on the disk (rng.json).').waitFor();
      await dialog.getByRole('button', { name: 'Resume from step 10' }).waitFor();
      await dialog.getByRole('combobox', { name: 'From checkpoint' }).click();
      await page.getByRole('option', { name: 'step 20, damaged' }).click();
      await expect.poll(() => dialog.getByRole('button', { name: 'Resume from step 20' }).isDisabled()).toBe(true);
      await expectAccessible(page);
      rmSync(join(checkpoint, 'checksums.sha256'));
    });

    it('says so when there is no such run', async () => {
      const { page, goto } = await openPage(app);
      await goto('/runs/99');
      await page.getByText('There is no run with id 99').waitFor();
    });
  });

  it('leads from a checkpoint to a new stage that starts there', async () => {
    const { page, goto } = await openPage(app);
    await goto('/runs/2');
    await page.getByRole('row', { name: /^30 / }).getByRole('link', { name: 'New stage' }).click();
    const dialog = page.getByRole('dialog', { name: 'New stage' });
    await dialog.getByText('run-0002-10words-grpo · step 30').waitFor();
    await dialog.getByLabel('Find a setting').fill('from_checkpoint');
    await expect
      .poll(() => dialog.getByLabel('from_checkpoint').inputValue())
      .toMatch(/run-0002-10words-grpo.checkpoint-30$/);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await goto('/curriculum?from=999');
    await page.getByText('Checkpoint 999 no longer exists').waitFor();
  });

  it('runs a pre-flight check before a free run', async () => {
    const { page, goto, complaints } = await openPage(app);
    await goto('/curriculum');
    await page.getByRole('button', { name: 'Free run' }).click();
    const form = page.getByRole('dialog', { name: 'New run' });
    // It can be started as it opens, on the newest dataset.
    await expect.poll(() => form.getByLabel('dataset', { exact: true }).inputValue()).toBe(dataset);
    await expect.poll(() => form.getByRole('button', { name: 'Start run' }).isEnabled()).toBe(true);
    // A section's fields are there once it is opened.
    expect(await form.getByLabel('method', { exact: true }).count()).toBe(0);
    await form.getByText('What to train').press('Enter');
    await form.getByLabel('method', { exact: true }).waitFor();
    const settings = { max_steps: '2', num_generations: '4', per_device_train_batch_size: '8' };
    for (const [name, value] of Object.entries(settings)) {
      await form.getByLabel('Find a setting').fill(name);
      await form.getByLabel(name, { exact: true }).fill(value);
    }
    await form.getByLabel('Find a setting').fill('');
    // Neither Escape nor Back drops what was filled in.
    const question = page.getByRole('dialog', { name: 'Discard your changes?' });
    for (const leave of [() => page.keyboard.press('Escape'), () => page.goBack()]) {
      await leave();
      await question.getByRole('button', { name: 'Keep editing' }).click();
      await question.waitFor({ state: 'detached' });
      expect(page.url()).toContain('#/curriculum');
    }
    await form.getByRole('button', { name: 'Start run' }).click();
    await form.getByText('Rewards differ').first().waitFor(CHECK);
    // Two groups a generation, and up to three generations until rewards of a group differ.
    await form.getByText(/Sampled groups: (2|4|6)$/).waitFor();
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Adjust' }).click();
    await form.getByLabel('Find a setting').waitFor();
    await form.getByRole('button', { name: 'Start run' }).click();
    const known = form.getByRole('checkbox', { name: /^Start anyway/ });
    await form.getByText('Rewards differ').first().waitFor(CHECK);
    if ((await known.count()) > 0) await known.check();
    await form.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL(/#\/runs\/\d+$/);
    // One run trains at a time: the next test starts another.
    await page.getByText('2/2').first().waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Resume from' }).first().waitFor({ timeout: 60_000 });
    expect(complaints).toEqual([]);
  }, 420_000);

  it('follows a run live: pause, reload, resume, kill, and roll back to a checkpoint', async () => {
    const client = await connectTo(app);
    // The model knows none of these words: without a KL term most steps would have nothing to compute, and be over
    // before the page is there. One thread leaves a core for the page.
    const config = {
      dataset,
      max_steps: 4000,
      save_steps: 5,
      // The table of checkpoints follows the run: none may be gone that it still shows.
      save_total_limit: null,
      sample_steps: 5,
      per_device_train_batch_size: 16,
      beta: 0.05,
      threads: 1,
    };
    const { runId } = await client.runs.start({ config: { ...config, num_generations: 4, pause_on_collapse: false } });
    const { page, goto, complaints } = await openPage(app);
    // Trainer and page share two cores with other tests.
    page.setDefaultTimeout(60_000);
    await goto(`/runs/${runId}`);
    const steps = async (): Promise<number> =>
      Number(
        (
          await page
            .getByText(/^\d+\/4000$/)
            .first()
            .textContent()
        )?.split('/')[0],
      );
    await expect.poll(steps, { timeout: 30_000 }).toBeGreaterThan(3);
    // The status bar counts steps before the page has its keys.
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    const pausedAt = await steps();
    // The key metrics, too, are those of the step where it paused.
    const tile = page.getByRole('listitem').filter({ hasText: 'Training reward' });
    await expect.poll(() => tile.innerText()).toMatch(new RegExp(`step ${pausedAt}$`));
    await page.reload();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    expect(await steps()).toBe(pausedAt);
    await page.getByRole('button', { name: 'Reward: data as table' }).click();
    const rows = page.getByRole('region', { name: 'Reward as a table' }).locator('tbody tr');
    // A long chart has a row for several steps.
    await expect.poll(() => rows.count()).toBeGreaterThanOrEqual(Math.min(pausedAt, 300));
    await page.keyboard.press('p');
    await expect.poll(steps, { timeout: 30_000 }).toBeGreaterThan(pausedAt + 1);

    // Steps that arrived while another screen was open are in the charts on return.
    await goto('/models');
    const away = async (): Promise<number> => (await client.runs.get({ runId })).step;
    const left = await away();
    await expect.poll(away, { timeout: 30_000 }).toBeGreaterThan(left + 2);
    await goto(`/runs/${runId}`);
    await page.getByRole('button', { name: 'Reward: data as table' }).click();
    await expect.poll(() => rows.count()).toBeGreaterThan(left + 2);
    // Hundreds of rows that change with each step keep a page on a busy machine from anything else.
    await page.getByRole('button', { name: 'Reward: chart' }).click();
    // Only a checkpoint before the newest one leaves something to discard.
    await expect.poll(async () => (await client.runs.get({ runId })).checkpoints.length).toBeGreaterThan(1);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Kill' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Kill' }).click();
    await page.getByText(/^Interrupted at step \d+\. Everything up to the checkpoint at step \d+ is safe\.$/).waitFor();
    await page.getByRole('button', { name: 'Roll back' }).last().click();
    await page.getByRole('dialog').getByText('This discards').waitFor();
    await page.getByRole('button', { name: /Discard and resume/ }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    // One letter asks first.
    await page.keyboard.press('s');
    await page.getByRole('dialog').getByRole('button', { name: 'Stop & save' }).click();
    await page.getByRole('button', { name: 'Resume from' }).first().waitFor({ timeout: 60_000 });
    expect(complaints).toEqual([]);
  }, 240_000);
});

/** Pixels of that colour in the reward chart. */
function drawn(page: Page, colour: readonly [number, number, number]): Promise<number> {
  return page.evaluate((wanted) => {
    const canvas = document.querySelector<HTMLCanvasElement>('.uplot canvas');
    const data = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    let found = 0;
    for (let i = 0; i < data.length; i += 4)
      if (wanted.every((part, at) => Math.abs((data[i + at] ?? 0) - part) < 12) && (data[i + 3] ?? 0) > 250) found++;
    return found;
  }, colour);
}

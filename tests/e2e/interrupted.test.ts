/** A trainer that died: what is said about it, and the button that continues its run or its stage. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { addStage } from '../../main/services/curriculum/edit.ts';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { connectTo } from './api.ts';
import { expectAccessible, fillOf, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { seedRun } from './seed-runs.ts';

/** Enough steps to train until it is killed. */
const STEPS = 4000;

/** What TensorFlow writes to stderr as it loads, here by every process of the app. */
const LIBRARY_LOG = [
  '2026-11-24 10:15:03.123456: I tensorflow/core/platform/cpu_feature_guard.cc:210] This binary is optimized to use available CPU instructions.',
  'To enable the following instructions: AVX2 AVX512F FMA, in other operations, rebuild TensorFlow.',
].join('\n');

describe.skipIf(noBrowser)('an interrupted run', () => {
  let app: RunningApp;
  beforeAll(async () => {
    const workspace = temporaryFolderOfFile();
    const dataset = writeTinyDataset(join(workspace, 'datasets', '2words.jsonl'));
    // That of the seeded runs.
    writeTinyDataset(join(workspace, 'datasets', '10words.jsonl'));
    const store = openStore(join(workspace, 'braid.db'));
    const facts = { task: 'interleave', words: 2, trainN: 12, testN: 4, seed: 3, template: null, textHash: null };
    const datasetId = store.datasets.record({ name: '2words', file: dataset, ...facts });
    const config = {
      per_device_train_batch_size: 16,
      num_generations: 4,
      pause_on_collapse: false,
      beta: 0.05,
      // One thread leaves a core for the page.
      save_steps: 5,
      eval_steps: 0,
      threads: 1,
    };
    addStage(store, { name: 'First', words: 2, datasetId, steps: STEPS, promotion: null, config });
    seedRun(store, { steps: 25, config: { max_steps: 60 }, interrupted: 'The trainer was killed' });
    seedRun(store, { steps: 5, interrupted: 'The trainer was killed' });
    store.close();
    const write = `process.stderr.write(${JSON.stringify(`${LIBRARY_LOG}\n`)})`;
    vi.stubEnv('NODE_OPTIONS', `--import=data:text/javascript,${encodeURIComponent(write)}`);
    app = await startApp(workspace);
    vi.unstubAllEnvs();
  });

  it("isn't blamed on what libraries log, and its stage resumes at a click", async () => {
    const { page, goto, complaints } = await openPage(app);
    page.setDefaultTimeout(60_000);
    const client = await connectTo(app);
    const { runId } = await client.stages.start({ stageId: 1 });
    const saved = async () => (await client.runs.get({ runId })).checkpoints.length;
    await expect.poll(saved, { timeout: 60_000 }).toBeGreaterThan(0);
    await goto(`/runs/${runId}`);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Kill …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Kill' }).click();

    const alert = page.getByRole('alert').filter({ hasText: /^Interrupted at step/ });
    const reason = 'The trainer process ended with SIGKILL (killed by a user, or by the system when memory ran out)';
    await alert.getByText(reason, { exact: true }).waitFor();
    // Once in the page, and folded away.
    const logged = page.getByText('tensorflow/core/platform');
    await expect.poll(() => logged.count()).toBe(1);
    expect(await logged.isVisible()).toBe(false);
    await alert.getByText('Details').click();
    await alert.getByText('To enable the following instructions').waitFor();
    await expectAccessible(page);

    await goto('/curriculum?stage=1');
    await page.getByRole('button', { name: /^2 First interrupted/ }).waitFor();
    await page.getByText(reason, { exact: true }).waitFor();
    expect(await page.getByText(/tensorflow/i).count()).toBe(0);
    const resume = page.getByRole('button', { name: 'Resume', exact: true });
    await expect.poll(() => fillOf(resume)).toBe('suggested');
    await expect.poll(() => fillOf(page.getByRole('button', { name: 'Start again' }))).toBe('plain');
    await expectAccessible(page);
    await resume.click();
    const open = page.getByRole('link', { name: 'Open the run' });
    await open.waitFor();
    await expect.poll(() => fillOf(open)).toBe('suggested');
    await open.click();
    await page.waitForURL(new RegExp(`#/runs/${runId}$`));
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expect(complaints).toEqual([]);
  }, 240_000);

  it('resumes from its newest checkpoint without a warning; one from an earlier names what is discarded', async () => {
    const { page, goto, complaints } = await openPage(app);
    await goto('/runs/1');
    await page.getByText('Everything up to the checkpoint at step 20 is safe.').waitFor();
    const resume = page.getByRole('button', { name: 'Resume from …' });
    await expect.poll(() => fillOf(resume)).toBe('suggested');
    await resume.click();
    const dialog = page.getByRole('dialog', { name: 'Resume run-0001-10words-grpo' });
    await dialog
      .getByText('Everything up to step 20 is kept. Steps 21 to 25 were not saved and will be trained again.')
      .waitFor();
    await expect.poll(() => fillOf(dialog.getByRole('button', { name: 'Resume from step 20' }))).toBe('suggested');
    expect(await dialog.getByText(/discard/i).count()).toBe(0);
    await dialog.getByRole('combobox', { name: 'From checkpoint' }).click();
    await page.getByRole('option', { name: 'step 10' }).click();
    await dialog
      .getByText(/^This discards the metrics of steps 11 to 25, .* and the checkpoint of step 20\.$/)
      .waitFor();
    await expect
      .poll(() => fillOf(dialog.getByRole('button', { name: 'Discard and resume from step 10' })))
      .toBe('dangerous');
    await expectAccessible(page);
    // Neither Escape nor a reload drops by accident what was entered.
    const question = page.getByRole('dialog', { name: 'Discard your changes?' });
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Keep editing' }).click();
    await question.waitFor({ state: 'detached' });
    const asked = page.waitForEvent('dialog');
    const reload = page.evaluate(() => location.reload());
    await (await asked).dismiss();
    await reload;
    await dialog.getByRole('button', { name: 'Discard and resume from step 10' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('restarts where it died before its first checkpoint, and says so', async () => {
    const { page, goto, complaints } = await openPage(app);
    await goto('/runs/2');
    await page.getByText('There was no checkpoint yet, so resuming restarts the run.').waitFor();
    await page.getByRole('button', { name: 'Resume from …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Resume run-0002-10words-grpo' });
    await dialog.getByText('Steps 1 to 5 were not saved and will be trained again.', { exact: true }).waitFor();
    await expect.poll(() => fillOf(dialog.getByRole('button', { name: 'Restart', exact: true }))).toBe('suggested');
    expect(complaints).toEqual([]);
  });
});

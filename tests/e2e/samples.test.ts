import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sample } from '../../main/samples/sample.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { openStore } from '../../main/store/index.ts';
import { addRun, sampleOf } from '../store/helpers.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { connectTo } from './api.ts';
import { expectAccessible, type OpenPage, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

const TARGET = 'the nobody rain told had him';
const STEPS = [1, 10, 20, 30];

/** Two prompts of eight completions: they get better with the steps, and one says "walrus". */
function samplesOf(step: number): Sample[] {
  return [0, 1].flatMap((group) =>
    Array.from({ length: 8 }, (_, index) => {
      const right = Math.min(6, 1 + ((step / 10 + index) % 6));
      const words = TARGET.split(' ').map((word, i) => (i < right ? word : 'walrus'));
      const reward = Math.floor(right) / 6;
      return sampleOf({
        ...{ group, index, reward, recordId: `3w-train-000${group}`, target: TARGET, completion: words.join(' ') },
        components: { alignment: reward },
        advantage: reward - 0.5,
        terminated: index !== 3,
      });
    }),
  );
}

/** A workspace with one run of four saved steps, and one with none. */
function workspaceWithSamples(): string {
  const root = temporaryFolderOfFile();
  const store = openStore(openWorkspace({ workspace: root }).database);
  const run = addRun(store, { name: 'first', configJson: '{"sample_steps":10}', maxSteps: 30 });
  for (const step of STEPS) store.samples.record(run, step, samplesOf(step));
  store.runs.advance(run, 30);
  store.runs.setState(run, 'done', null);
  store.runs.setState(addRun(store, { name: 'empty' }), 'failed', 'It was made for a test.');
  store.close();
  return root;
}

describe.skipIf(noBrowser)('the samples', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp(workspaceWithSamples());
  });

  describe('on one page', () => {
    let opened: OpenPage;
    beforeAll(async () => {
      opened = await openPage(app);
    });

    it('show the best and worst of the newest step, and move through steps and prompts by keyboard', async () => {
      const { page, complaints, goto } = opened;
      await goto('/samples');
      await page
        .getByRole('article', { name: 'best' })
        .getByRole('group', { name: /^best: all words right/ })
        .waitFor();
      await page
        .getByRole('article', { name: 'worst' })
        .getByText('cut off')
        .or(page.getByText('ended'))
        .first()
        .waitFor();
      await page.getByText('step 30').first().waitFor();
      await page.keyboard.press('j');
      await page.getByText('step 20').first().waitFor();
      await page.keyboard.press('Home');
      await page.getByText('1 of 4 saved').waitFor();
      await page.keyboard.press('End');
      await page.keyboard.press('ArrowDown');
      await page.getByRole('heading', { name: '3w-train-0000' }).waitFor();
      await expectAccessible(page);
      expect(complaints).toEqual([]);
    });

    it('copy a completion, its target and all its data', async () => {
      const { page, goto } = opened;
      await goto('/samples?run=1');
      const best = page.getByRole('article', { name: 'best' });
      const copied = () => page.evaluate(() => navigator.clipboard.readText());
      for (const [item, found] of [
        ['Copy the completion', TARGET],
        ['Copy the target', TARGET],
        ['Copy as JSON', '"recordId": "3w-train-000'],
      ] as const) {
        await page.evaluate(() => navigator.clipboard.writeText(''));
        await best.getByRole('button', { name: 'Actions for best' }).click();
        await page.getByRole('menuitem', { name: item }).click();
        // It says so for two seconds.
        await best.getByRole('status').getByText('Copied', { exact: true }).waitFor();
        await expect.poll(copied).toContain(found);
        await best.getByRole('status').getByText('Copied').waitFor({ state: 'hidden' });
      }
      await page.evaluate(() => {
        navigator.clipboard.writeText = () => Promise.reject(new Error('Refused for the test'));
      });
      await best.getByRole('button', { name: 'Actions for best' }).click();
      await page.getByRole('menuitem', { name: 'Copy the target' }).click();
      await best.getByRole('status').getByText('Not copied: the browser denied').waitFor();
    });

    it('show a whole group, a bar of its histogram, and a wrong word with what was expected', async () => {
      const { page, goto } = opened;
      await goto('/samples?run=1&step=10&group=1');
      await page.getByRole('heading', { name: 'All 8, best first' }).waitFor();
      await page
        .getByRole('button', { name: /^0\.15 to 0\.20: 0|^0\.30 to 0\.35: \d/ })
        .first()
        .click();
      await page.getByRole('heading', { name: /of 8$/ }).waitFor();
      await page.getByRole('button', { name: 'Show all' }).click();
      const worst = page.getByRole('article', { name: 'worst' });
      await worst.getByRole('button', { name: 'walrus, wrong, expected' }).first().focus();
      await worst
        .locator('[aria-hidden="true"]', { hasText: /^nobody$/ })
        .first()
        .waitFor();
      await page.getByRole('button', { name: 'wrong', exact: true }).click();
      await expect.poll(() => worst.getByRole('button', { name: /walrus/ }).count()).toBe(0);
    });

    it('say which step is shown instead of one that was not saved or no longer exists', async () => {
      const { page, goto } = opened;
      await goto('/samples?run=1&step=14');
      await page.getByText('Completions of step 14 were not saved').waitFor();
      await page.getByText('Showing step 10, the nearest.').waitFor();
      await goto('/samples?run=1&step=90');
      await page.getByText('first is at step 30: it was rolled back').waitFor();
      await goto('/samples?run=2');
      await page.getByText('empty has no completions').waitFor();
      await goto('/samples?run=99');
      await page.getByText('There is no run with id 99').waitFor();
      await page.getByRole('button', { name: 'Show the newest completions' }).click();
      await page.getByRole('article', { name: 'best' }).waitFor();
    });
  });

  it('are found by word and score, and exported as found', async () => {
    const { page, goto } = await openPage(app);
    await goto('/samples?run=1');
    await page.keyboard.press('/');
    await page.getByLabel('Search completions').fill('walr');
    await page.locator('mark', { hasText: 'walrus' }).first().waitFor();
    await page.getByLabel('Reward below').fill('0.4');
    await expect.poll(() => page.getByRole('status').first().textContent()).toMatch(/^\d+ completions?$/);
    await expectAccessible(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page
        .getByRole('button', { name: 'Export' })
        .click()
        .then(() => page.getByRole('menuitem', { name: 'JSONL' }).click()),
    ]);
    const rows = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.every(({ reward, completion }) => reward < 0.4 && completion.includes('walrus'))).toBe(true);
    await page.getByLabel('Search completions').fill('nonesuch');
    await page.getByText('No matching completions').waitFor();
  });

  it('follow a stage in training, also back to a checkpoint', async () => {
    const dataset = writeTinyDataset(join(app.workspace, 'datasets', '2words.jsonl'));
    const client = await connectTo(app);
    const small = { per_device_train_batch_size: 8, num_generations: 4, pause_on_collapse: false };
    const config = { dataset, max_steps: 4000, save_steps: 5, sample_steps: 1, save_total_limit: null, ...small };
    const { runId } = await client.runs.start({ config });
    const { page, goto, complaints } = await openPage(app);
    await goto(`/samples?run=${runId}`);
    const shown = async (): Promise<number> =>
      Number(
        (
          await page
            .getByText(/^step \d+$/)
            .first()
            .textContent()
        )?.replace('step ', ''),
      );
    await page.getByRole('switch', { name: 'Follow newest' }).waitFor({ timeout: 60_000 });
    const first = await shown();
    await expect.poll(shown, { timeout: 60_000 }).toBeGreaterThan(first + 10);
    // A selected step stays shown while others arrive.
    await page.keyboard.press('j');
    const mine = await shown();
    await expect
      .poll(async () => (await client.runs.get({ runId })).step, { timeout: 60_000 })
      .toBeGreaterThan(mine + 2);
    expect(await shown()).toBe(mine);
    await client.runs.stop({ runId });
    await expect.poll(async () => (await client.runs.get({ runId })).state, { timeout: 60_000 }).toBe('stopped');
    const { checkpoints } = await client.runs.get({ runId });
    const checkpointId = checkpoints[0]?.id;
    await expect
      .poll(
        () =>
          client.runs.resume({ runId, ...(checkpointId && { checkpointId }) }).then(
            () => true,
            () => false,
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    await page.getByText('it was rolled back to a checkpoint').waitFor({ timeout: 60_000 });
    await client.runs.kill({ runId });
    expect(complaints).toEqual([]);
  }, 240_000);

  it('can be pinned across steps, and one record followed through the run', async () => {
    const { page, goto } = await openPage(app);
    await goto('/samples?run=1&step=1');
    await page.getByRole('article', { name: 'worst' }).waitFor();
    await page.keyboard.press('w');
    await page.keyboard.press('End');
    await page.getByText('4 of 4 saved').waitFor();
    await page.locator('[aria-busy="false"]').waitFor();
    await page.keyboard.press('b');
    await page.keyboard.press('p');
    await page.getByText('2 of 4 pinned').waitFor();
    await page.getByText('first · step 1 ·').waitFor();
    await page.getByText('first · step 30 ·').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Unpin all' }).click();
    await page.getByText('Nothing is pinned').waitFor();
    await goto('/samples?run=1&show=record&record=3w-train-0001');
    await page.getByText('over 4 saved steps').waitFor();
    await page.getByRole('button', { name: /^step 20/ }).click();
    await page.getByText('3 of 4 saved').waitFor();
  });
});

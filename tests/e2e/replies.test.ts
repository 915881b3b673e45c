import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { checkoutPaths } from '../../main/commands/host-paths.ts';
import { disposeModel } from '../../main/model/model.ts';
import { readReplyState } from '../../main/services/replies/stored-state.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { openStore } from '../../main/store/index.ts';
import { madeAnswers, sampleReplies } from '../services/replies/made-answers.ts';
import { makeReport, POSTS } from '../services/replies/make-report.ts';
import { replyLines } from '../services/reply-lines.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { expectAccessible, openPage, picture, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { holdAnswers } from './failing-calls.ts';
import { seedRun } from './seed-runs.ts';

vi.setConfig({ testTimeout: 120_000 });

describe.skipIf(noBrowser)('the Replies screen', () => {
  let app: RunningApp;
  beforeAll(async () => {
    const workspace = openWorkspace({ workspace: temporaryFolderOfFile() });
    const store = openStore(workspace.database);
    const { runId } = seedRun(store, { steps: 40 });
    store.metrics.record(runId, 41, { kl: 16, reward: 0.5 });
    store.close();
    app = await startApp(workspace.root);
  });

  it('shows the sample, splits it with checks and figure, and says what each method still needs', async () => {
    const { page, complaints } = await openPage(app);
    await page.keyboard.press('g');
    await page.keyboard.press('y');
    await page.getByText('480 training pairs').waitFor();
    await expect.poll(() => page.getByText('needs the split').count()).toBe(4);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Split', exact: true }).click();
    await page.getByText('No overlap: no post is on both sides').waitFor();
    await page.getByRole('img', { name: /^Engagement up to / }).waitFor();
    await expect.poll(() => page.getByText('needs a baseline on this split').count()).toBe(2);
    await expect.poll(() => page.getByRole('button', { name: 'Start with seed 42: Baseline' }).isEnabled()).toBe(true);
    await picture(page, 'replies');
    await expectAccessible(page);
    // The figure's text is dark on light, and light on dark.
    const label = page
      .getByRole('img', { name: /^Engagement up to / })
      .locator('text')
      .first();
    const fill = () => label.evaluate((text) => getComputedStyle(text).fill);
    expect(await fill()).toBe('rgb(95, 91, 83)');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(fill).toBe('rgb(177, 172, 162)');
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('imports a file, or names every invalid line', async () => {
    const { page, goto } = await openPage(app);
    await goto('/replies');
    const chooser = page.getByLabel('Reply records to import');
    await chooser.setInputFiles({ name: 'bad.jsonl', mimeType: 'text/plain', buffer: Buffer.from('{"id":"a"}\nnope') });
    await page.getByText(/bad\.jsonl, line 2: not JSON/).waitFor();
    await expectAccessible(page);
    const records = Array.from({ length: 30 }, (_, i) => ({
      ...{ id: `r${i}`, post: `post number ${i}`, reply: `reply number ${i}` },
      engagement: { likes: i, reposts: 0, replies: 0 },
    }));
    const buffer = Buffer.from(records.map((record) => JSON.stringify(record)).join('\n'));
    await chooser.setInputFiles({ name: 'mine.jsonl', mimeType: 'text/plain', buffer });
    await page.getByText('Use the bundled sample').waitFor();
    await page.getByText('27 training pairs').waitFor();
  });

  it('advises on a run, opens the next one with the advice applied, and exports for other tools', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/runs/1');
    await page.getByText(/The KL divergence reached 16\.0 nats/).waitFor();
    await page.getByText('KL penalty').waitFor();
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('button', { name: 'Copy export path' }).waitFor();
    const folder = (await page.getByText(/export$/).textContent()) ?? '';
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['completions.parquet', 'metrics.csv']));
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save metrics.csv' }).click();
    const download = await saving;
    expect(download.suggestedFilename()).toBe('metrics.csv');
    expect(readFileSync(await download.path(), 'utf8')).toBe(readFileSync(join(folder, 'metrics.csv'), 'utf8'));
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Apply to the next run …' }).click();
    const form = page.getByRole('dialog', { name: 'New run' });
    await form.getByRole('button', { name: 'Start run' }).waitFor();
    await expect.poll(() => form.getByLabel('beta', { exact: true }).inputValue()).toBe('0.04');
    // Only what was advised counts as changed, and the name says it.
    await form.getByText(/^Only changed \([12]\)$/).waitFor();
    await expect.poll(() => form.getByLabel('Name', { exact: true }).inputValue()).toMatch(/ beta 0\.04( |$)/);
    expect(complaints).toEqual([]);
  });

  it("explains why an import is refused, and what a split can't do", async () => {
    const { page, goto } = await openPage(app);
    await goto('/replies');
    const drop = (names: readonly string[]) =>
      page.getByText(/training pairs/).evaluate((place, files) => {
        const dataTransfer = new DataTransfer();
        for (const name of files) dataTransfer.items.add(new File(['{}'], name));
        place.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
      }, names);
    await drop(['a.jsonl', 'b.jsonl']);
    await page.getByText('Import one file of reply records at a time, not 2.').waitFor();
    await drop([]);
    await page.getByText('There was neither a file nor text to import.').waitFor();
    await page.evaluate(() => navigator.clipboard.writeText(' '));
    await page.getByRole('button', { name: 'Paste' }).click();
    await page.getByText('The clipboard contains no text.').waitFor();
    await page.evaluate(() => navigator.clipboard.writeText('{"id":"a","post":"p"}'));
    await page.getByRole('button', { name: 'Paste' }).click();
    await page
      .getByText(/Pasted text, line 1: expected "reply" to be a string, got nothing; expected "engag/)
      .waitFor();

    // Not as many as the file before, so that what is waited for is of this one.
    const equal = Array.from({ length: 40 }, (_, i) =>
      JSON.stringify({ ...{ id: `e${i}`, post: `post ${i}`, reply: 'ok' }, engagement: NONE }),
    ).join('\n');
    const file = { name: 'equal.jsonl', mimeType: 'text/plain', buffer: Buffer.from(equal) };
    await page.getByLabel('Reply records to import').setInputFiles(file);
    await page.getByText('36 training pairs').waitFor();
    await page.getByRole('button', { name: 'Split', exact: true }).click();
    await page.getByText(/Quartiles filled: quartiles 2, 3 and 4 are empty/).waitFor();
    await expectAccessible(page);
  });

  it('goes through the checklist for long runs, and saves what the user confirms', async () => {
    const { page, goto } = await openPage(app);
    await goto('/replies');
    await page.getByRole('button', { name: 'Use the bundled sample' }).click();
    await page.getByText('Two-phase split: not split yet').waitFor();
    await page.getByText(/^1 to fix, \d to check$/).waitFor();
    await page.getByRole('button', { name: 'Split', exact: true }).click();
    await page.getByText('Phases share no post: no post is in both phases').waitFor();
    // The box is checked once the host has stored it.
    await page.getByLabel('This machine is free for as long as the runs take').click();
    await page.getByText(/^\d to check$/).waitFor();
    await expectAccessible(page);
  });

  it('knows the baseline by what it was started as, whatever it is called since', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/replies');
    await page.getByRole('button', { name: /^Split( again)?$/ }).click();
    await page.getByRole('button', { name: 'Split again' }).waitFor();
    const store = openStore(join(app.workspace, 'braid.db'));
    const { data } = readReplyState(store);
    const files = {
      dataset: join(app.workspace, 'datasets/train_phase1_sft.jsonl'),
      eval_dataset: data?.test ?? 'sample_replies.test.jsonl',
    };
    const { runId } = seedRun(store, {
      ...{ steps: 10, name: 'baseline/seed_42' },
      config: { method: 'sft', task: 'reply', ...files },
    });
    store.close();
    // Whoever leaves before the answer is there, loses nothing, and isn't asked whether to.
    await holdAnswers(page, ['/runs/rename']);
    await page.reload();
    await goto(`/runs/${runId}`);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Rename …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Rename baseline/seed_42' });
    await dialog.getByLabel('Name').fill('the good one');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('heading', { level: 1, name: 'the good one', includeHidden: true }).waitFor();

    await goto('/replies');
    const baseline = page.getByRole('region', { name: 'Baseline', exact: true });
    await baseline.getByRole('link', { name: `run ${runId}` }).waitFor();
    await baseline.getByText('done', { exact: true }).waitFor();
    await baseline.getByText('seed 42', { exact: true }).waitFor();
    // So the methods that start from it can start.
    await expect
      .poll(() => page.getByRole('button', { name: 'Start with seed 42: GRPO', exact: true }).isEnabled())
      .toBe(true);
    expect(await page.getByText('needs a baseline on this split').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('opens a YAML file in the form, or names the line and suggests a correction', async () => {
    const { page, goto } = await openPage(app);
    await goto('/curriculum');
    await page.getByRole('button', { name: 'Free run' }).click();
    const form = page.getByRole('dialog', { name: 'New run' });
    const open = form.getByLabel('Configuration to open');
    const yaml = (text: string) => ({ name: 'mine.yaml', mimeType: 'application/yaml', buffer: Buffer.from(text) });
    await open.setInputFiles(yaml('beta: 0.1\nlearning_rte: 1e-3\n'));
    await form.getByText('mine.yaml, line 2: unknown field "learning_rte"; did you mean "learning_rate"?').waitFor();
    await open.setInputFiles(yaml('beta: 0.125\nmethod: sft\n'));
    await expect.poll(() => form.getByLabel('beta', { exact: true }).inputValue()).toBe('0.125');
  });
});

describe.skipIf(noBrowser)('a comparison of the reply methods', () => {
  it('leads with its finding, shows the replies side by side, and draws its own charts', async () => {
    const workspace = openWorkspace({ workspace: temporaryFolderOfFile() });
    const store = openStore(workspace.database);
    const { resources } = checkoutPaths(resolve(import.meta.dirname, '../..'));
    await makeReport(store, { resources, dataset: sampleReplies, answersOf: madeAnswers });
    store.close();
    const answers = madeAnswers('grpo_from_baseline', POSTS);
    const reply = (post: number, k = 0): string => answers[post]?.completions[k] ?? '';
    const { page, goto, complaints } = await openPage(await startApp(workspace.root));
    await goto('/replies');
    await page.getByText(/^GRPO (improves on Baseline|writes the best replies) on 24 held-out posts/).waitFor();

    await page.getByText('Post 1 of 24').waitFor();
    const grpo = page.getByRole('region', { name: 'Replies of GRPO', exact: true });
    await grpo.getByText(reply(0)).first().waitFor();
    await expect.poll(() => page.getByRole('region', { name: /^Replies of/ }).count()).toBe(4);
    await page.getByText('Human reply:').waitFor();
    await page.keyboard.press('j');
    await page.getByText('Post 2 of 24').waitFor();
    await grpo.getByText(reply(1)).first().waitFor();
    await grpo.getByRole('button', { name: 'Show all 4' }).click();
    await grpo.getByText(reply(1, 3)).last().waitFor();
    await page.getByRole('button', { name: 'Previous post' }).click();
    await page.getByText('Post 1 of 24').waitFor();
    await page.getByLabel('Search posts and replies').fill('library card');
    await page.getByText('Post 1 of 1 found, 24 in all').waitFor();
    await grpo.getByText(reply(7)).first().waitFor();
    await page.getByLabel('Search posts and replies').fill('zzzz');
    await page.getByText('No post or reply contains “zzzz”.').waitFor();
    await page.getByRole('button', { name: 'Clear the search' }).click();

    for (const chart of ['Pass@k, k', 'Reward, step', 'Diversity, step', 'KL, step', 'Loss, step'])
      await page.getByRole('slider', { name: chart }).waitFor();
    await page.getByRole('list', { name: /^Means with 95% intervals/ }).waitFor();
    await page.getByText('Size of the adapters by layer and module').click();
    await page.getByRole('rowheader', { name: 'Polychromic GRPO, 1' }).waitFor();
    await page.getByText('Files of the report').click();
    await page.getByRole('button', { name: 'Save pass at k, PNG' }).waitFor();
    await expectAccessible(page);
    // Every chart is drawn again in the colours of the theme.
    const grids = [[0xe2, 0xde, 0xd6] as const, [0x2c, 0x2d, 0x31] as const] as const;
    await expect.poll(() => fewestDrawn(page, grids[0])).toBeGreaterThan(100);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => fewestDrawn(page, grids[1])).toBeGreaterThan(100);
    expect(await fewestDrawn(page, grids[0])).toBe(0);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });
});

describe.skipIf(noBrowser)('the full reply pipeline by clicks', () => {
  it('trains an imported model with all four methods and compares them', async () => {
    const workspace = openWorkspace({ workspace: temporaryFolderOfFile() });
    disposeModel(await writeTinyModel(join(workspace.models, 'own')));
    const { page, goto, complaints } = await openPage(await startApp(workspace.root));
    page.setDefaultTimeout(30_000);
    await goto('/replies');
    const file = { name: 'mine.jsonl', mimeType: 'text/plain', buffer: Buffer.from(replyLines(40)) };
    await page.getByLabel('Reply records to import').setInputFiles(file);
    await page.getByText('36 training pairs').waitFor();
    await page.getByRole('combobox', { name: 'Model' }).click();
    await page.getByRole('option', { name: 'own', exact: true }).click();
    await page.getByRole('button', { name: 'Run the full pipeline' }).click();
    await page.getByRole('region', { name: 'Comparison of the methods' }).waitFor({ timeout: 300_000 });
    for (const method of ['Baseline', 'Polychromic', 'GRPO', 'Polychromic GRPO'])
      await page.getByRole('region', { name: method, exact: true }).getByText('done', { exact: true }).waitFor();
    await page.getByText(/^Differences from/).waitFor();
    await page.getByRole('slider', { name: /^Pass@k, k/ }).waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  }, 400_000);
});

const NONE = { likes: 0, reposts: 0, replies: 0 };

/** Pixels of that colour in the chart that has the fewest of them. */
function fewestDrawn(page: Page, colour: readonly [number, number, number]): Promise<number> {
  return page.evaluate((wanted) => {
    const counts = [...document.querySelectorAll<HTMLCanvasElement>('.uplot canvas')].map((canvas) => {
      const data = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
      let found = 0;
      for (let i = 0; i < data.length; i += 4)
        if (wanted.every((part, at) => Math.abs((data[i + at] ?? 0) - part) < 6) && (data[i + 3] ?? 0) > 250) found++;
      return found;
    });
    return Math.min(...counts);
  }, colour);
}

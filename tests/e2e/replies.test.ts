import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { openWorkspace } from '../../main/services/workspace.ts';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../store/helpers.ts';
import { expectAccessible, openPage, picture, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
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
    await page.getByText('480 pairs to train on').waitFor();
    expect(await page.getByText('needs the split').count()).toBe(4);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Split', exact: true }).click();
    await page.getByText('No overlap: no post stands on both sides').waitFor();
    await page.getByRole('img', { name: /^Engagement up to / }).waitFor();
    expect(await page.getByText('needs a baseline that is done').count()).toBe(2);
    expect(await page.getByRole('button', { name: 'Start with seed 42: Baseline' }).isEnabled()).toBe(true);
    await picture(page, 'replies');
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('takes a file in, or names every line that is wrong', async () => {
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
    await page.getByText('Back to the bundled sample').waitFor();
    await page.getByText('27 pairs to train on').waitFor();
  });

  it('advises on a run, opens the next one with the advice taken, and exports for other tools', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/runs/1');
    await page.getByText(/The KL divergence reached 16\.0 nats/).waitFor();
    await page.getByText('KL penalty').waitFor();
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('button', { name: 'Copy the path' }).waitFor();
    const folder = (await page.getByText(/export$/).textContent()) ?? '';
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['completions.parquet', 'metrics.csv']));
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Apply to the next run …' }).click();
    const form = page.getByRole('dialog', { name: 'New run' });
    await form.getByRole('button', { name: 'Start run' }).waitFor();
    expect(await form.getByLabel('beta', { exact: true }).inputValue()).toBe('0.04');
    // Only what was advised counts as changed, and the name says it.
    await form.getByText(/^Only changed \([12]\)$/).waitFor();
    expect(await form.getByLabel('Name', { exact: true }).inputValue()).toMatch(/ beta 0\.04( |$)/);
    expect(complaints).toEqual([]);
  });
});

/** Names that differ only at their end: the part that tells them apart is seen wherever they are listed. */
import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Locator } from 'playwright-core';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { openStore } from '../../main/store/index.ts';
import { addRun } from '../store/helpers.ts';
import { expectAccessible, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { modelWorkspace } from './model-workspace.ts';

vi.setConfig({ testTimeout: 180_000 });
const computing = { timeout: 100_000 };

const RUN = 'ten-words-all-checkpoints-with-the-second-template';
const STEPS = [100, 200];

/** Runs of one experiment, the first with checkpoints that have the bundled model's weights. */
function addRuns(workspace: string): void {
  const store = openStore(join(workspace, 'braid.db'));
  for (const seed of [42, 43]) {
    const run = addRun(store, { dataset: join(workspace, 'datasets/10words.jsonl') });
    store.runs.place(run, `${RUN}/seed_${seed}`, `outputs/long-${seed}`);
    store.runs.setState(run, 'done', null);
    for (const step of seed === 42 ? STEPS : []) {
      const folder = `outputs/long-${seed}/checkpoint-${step}`;
      const model = resolve(import.meta.dirname, '../../resources/models/tiny');
      cpSync(model, join(workspace, folder), { recursive: true });
      store.checkpoints.record(run, step, folder, 'periodic');
    }
  }
  store.close();
}

/** Whether an element shows the whole of its text. */
async function isWhole(what: Locator): Promise<boolean> {
  return what.evaluate((element) => {
    const text = document.createRange();
    text.selectNodeContents(element);
    const width = element.getBoundingClientRect().width;
    // A fraction of a pixel is enough for an ellipsis.
    return width > 0 && text.getBoundingClientRect().width <= width + 0.01;
  });
}

describe.skipIf(noBrowser)('long names', () => {
  let app: RunningApp;
  beforeAll(async () => {
    const workspace = await modelWorkspace();
    addRuns(workspace);
    app = await startApp(workspace);
  });

  it('differ visibly in a comparison, in the list of runs and on Home', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/compare?model=checkpoint%3A2&model=checkpoint%3A3');
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    const prompts = page.getByLabel('Prompts', { exact: true });
    const rows = page.getByRole('table').first().getByRole('row');
    await rows.nth(3).getByText('0 · 12 · 0').waitFor(computing);
    await page.getByRole('switch', { name: 'All models' }).click();
    for (const step of STEPS) {
      const lane = prompts.locator('dt').getByText(` · step ${step}`, { exact: true }).last();
      await expect.poll(() => isWhole(lane)).toBe(true);
    }
    await expectAccessible(page);

    await goto('/runs');
    for (const seed of [42, 43])
      await expect.poll(() => isWhole(page.getByText(`/seed_${seed}`, { exact: true }))).toBe(true);

    await goto('/');
    for (const step of STEPS)
      await expect.poll(() => isWhole(page.getByText(` · step ${step}`, { exact: true }))).toBe(true);
    expect(complaints).toEqual([]);
  });
});

/** Pictures for docs/ of a workspace with real runs: minutes of training, so only where scripts/screenshots.ts asks. */
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, it } from 'vitest';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { openPage, picture, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

const root = resolve(import.meta.dirname, '../..');

/** Learning rates with two seeds each, long enough to tell them apart. */
const sweep = ['--name', 'rates', '--grid', 'learning_rate=2e-5,1e-4,2e-4', '--seeds', '1,2', '--steps', '20'];

describe.skipIf(noBrowser || process.env.BRAID_SCREENSHOTS === undefined)('pictures of real runs', () => {
  let page: Page;
  let goto: (path: string) => Promise<void>;

  beforeAll(async () => {
    const workspace = temporaryFolderOfFile();
    const dataset = join(workspace, 'datasets', '10words.jsonl');
    const braid = (...args: readonly string[]): void =>
      void execFileSync(process.execPath, ['main/braid.ts', ...args, '--workspace', workspace, '--quiet'], {
        cwd: root,
      });
    braid('replies', '--backend', 'wasm');
    braid('dataset', '--words', '10');
    braid('sweep', '--config', 'interleave-tiny', '--dataset', dataset, ...sweep, '--backend', 'wasm');
    ({ page, goto } = await openPage(await startApp(workspace)));
  }, 1_800_000);

  it('shows the report of the four reply methods', async () => {
    await goto('/replies');
    await page.getByRole('list', { name: /^Means with 95% intervals/ }).waitFor();
    await picture(page, 'replies-report');
  });

  it('shows a sweep, the list of its runs, and their settings against their results', async () => {
    await goto('/experiments/1');
    await page.getByText('6 of 6 runs', { exact: true }).waitFor();
    await picture(page, 'sweep');
    await goto('/runs');
    await page.getByText('rates learning_rate 2e-4/seed_2').first().waitFor();
    await picture(page, 'runs');
    await page.getByRole('button', { name: 'Plot settings' }).click();
    const from = page.getByRole('slider', { name: 'learning_rate: from' });
    for (let press = 0; press < 2; press++) await from.press('ArrowUp');
    await picture(page, 'runs-plot');
  });
});

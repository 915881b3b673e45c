import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { openWorkspace } from '../../main/services/workspace.ts';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../store/helpers.ts';
import { expectAccessible, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { seedRun } from './seed-runs.ts';

const RUN = 'run-0001-10words-grpo';

/** An app with one run in its history. */
async function seededApp(): Promise<RunningApp> {
  const workspace = temporaryFolderOfFile();
  const store = openStore(openWorkspace({ workspace }).database);
  seedRun(store, { steps: 30 });
  store.close();
  return startApp(workspace);
}

/** Loads the page anew and waits until a run's screen has asked for what it shows first, though nobody opened it. */
async function untilRehearsed(page: Page): Promise<void> {
  const asked: string[] = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => void asked.push(String(payload))));
  await page.reload();
  await expect.poll(() => asked.join(), { timeout: 20_000 }).toContain('/runs/standing');
  await page.waitForTimeout(1000);
}

describe.skipIf(noBrowser)('the frame', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp();
  });

  it('is usable within two seconds of the start, and shows nothing serious to axe', async () => {
    const { page, complaints } = await openPage(app);
    expect(new URL(page.url()).search).toBe('');
    await page.getByText('Nothing trains').waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('goes everywhere, and does what a screen can do, by keyboard', async () => {
    const { page, goto } = await openPage(app);
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Everywhere').waitFor();
    expect(await page.getByRole('dialog').getByText('Find a run').count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    const palette = page.getByPlaceholder(/^Do something here/);
    await palette.fill('home');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();

    await palette.waitFor({ state: 'hidden' });
    await goto('/texts');
    await page.getByText('No texts yet').waitFor();
    await page.keyboard.press('Control+k');
    await palette.fill('import');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Import texts' }).waitFor();
  });

  it('goes back and forward through the screens that one came to', async () => {
    const { page } = await openPage(app);
    const title = (name: string) => page.getByRole('heading', { level: 1, name });
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await title('Runs').waitFor();
    await page.getByRole('link', { name: 'Samples', exact: true }).click();
    await title('Samples').waitFor();
    await page.goBack();
    await title('Runs').waitFor();
    await page.goBack();
    await title('Home').waitFor();
    await page.goForward();
    await title('Runs').waitFor();
  });

  it('keeps its keys while a field that takes no text has the focus', async () => {
    const { page, goto } = await openPage(app);
    await goto('/settings');
    await page.getByRole('radio').first().focus();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('heading', { level: 1, name: 'Samples' }).waitFor();
    await goto('/playground');
    await page.getByRole('textbox', { name: /Text A/ }).focus();
    await page.keyboard.type('gh?');
    expect(await page.getByRole('textbox', { name: /Text A/ }).inputValue()).toBe('gh?');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('draws screens ahead of time without a trace', async () => {
    const { page, goto, complaints } = await openPage(await seededApp());
    await untilRehearsed(page);
    expect(await page.title()).toBe('Home · Braid');
    expect(await page.locator('h1').allTextContents()).toEqual(['Home']);
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Everywhere').waitFor();
    expect(await page.getByRole('dialog').getByText('Find a run').count()).toBe(0);
    await page.keyboard.press('Escape');
    await goto('/runs/1');
    await page.getByRole('heading', { level: 1, name: RUN }).waitFor();
    await page.locator('.u-over').first().waitFor();
    expect(await page.title()).toBe(`${RUN} · Braid`);
    expect(complaints).toEqual([]);
  });

  it('stays up when the code of a screen that is drawn ahead can not be had', async () => {
    const { page } = await openPage(await seededApp());
    await page.route('**/assets/Runs-*.js', (route) => route.abort());
    await untilRehearsed(page);
    expect(await page.locator('h1').allTextContents()).toEqual(['Home']);
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByText("This screen can't be shown").waitFor();
    await page.unroute('**/assets/Runs-*.js');
    await page.getByRole('link', { name: 'Samples', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Samples' }).waitFor();
  });

  it('goes on after a lost connection, and turns away after a restart', async () => {
    const first = await startApp();
    const { page } = await openPage(first);
    await page.getByText('Nothing trains').waitFor();
    await first.stop();
    await page.getByText('The connection to the app is lost').waitFor();
    const port = new URL(first.url).port;
    const second = await startApp(first.workspace, ['--port', port]);
    await page.getByText('This page belongs to an earlier start of Braid').waitFor();
    await page.goto(second.url);
    await page.getByText('Nothing trains').waitFor();
  });
});

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { openStore } from '../../main/store/index.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { connectTo } from './api.ts';
import { expectAccessible, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { type Box, boxOf, firstChart } from './pointer.ts';
import { seedRun } from './seed-runs.ts';

const RUN = 'run-0001-10words-grpo';

/** An app with two runs in its history. */
async function seededApp(): Promise<RunningApp> {
  const workspace = temporaryFolderOfFile();
  const store = openStore(openWorkspace({ workspace }).database);
  for (let run = 1; run <= 2; run++) seedRun(store, { steps: 30 });
  store.close();
  return startApp(workspace);
}

/** Reloads the page and waits until a run's screen has fetched its first data although nobody opened it. */
async function untilPrerendered(page: Page): Promise<void> {
  const asked: string[] = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => void asked.push(String(payload))));
  await page.reload();
  await expect.poll(() => asked.join()).toContain('/runs/standing');
  await page.waitForTimeout(1000);
}

async function expectNoSidewaysScroll(page: Page, route: string): Promise<void> {
  const wider = () =>
    page.evaluate(() => {
      const main = document.querySelector('main');
      const page = document.documentElement;
      return Math.max((main?.scrollWidth ?? 0) - (main?.clientWidth ?? 0), page.scrollWidth - page.clientWidth);
    });
  await expect.poll(wider, { message: `${route} is wider than its window` }).toBeLessThanOrEqual(0);
}

describe.skipIf(noBrowser)('the frame', () => {
  let app: RunningApp;
  let seeded: RunningApp;
  beforeAll(async () => {
    app = await startApp();
    seeded = await seededApp();
  });
  /** The shared app, which another try of a test may have stopped. */
  const stillUp = async (): Promise<RunningApp> => {
    if (app.host.exitCode !== null) app = await startApp(app.workspace);
    return app;
  };

  it('is usable within two seconds of the start, and shows nothing serious to axe', async () => {
    const { page, complaints } = await openPage(app);
    expect(new URL(page.url()).search).toBe('');
    await page.getByText('Idle', { exact: true }).waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it("navigates and triggers a screen's actions by keyboard", async () => {
    const { page, goto } = await openPage(app);
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Everywhere').waitFor();
    await expect.poll(() => page.getByRole('dialog').getByText('Find a run').count()).toBe(1);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    const palette = page.getByPlaceholder(/^Search actions/);
    await palette.fill('home');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();

    await palette.waitFor({ state: 'hidden' });
    // The screen that was left had the focus; the new one has it now, so that the next Tab is there.
    await page.waitForFunction(() => document.activeElement?.tagName === 'MAIN');
    await goto('/texts');
    await page.getByText('No texts yet').waitFor();
    await goto('/playground');
    await page.getByRole('textbox', { name: /Text A/ }).press('Control+k');
    await palette.fill('texts');
    await page.keyboard.press('Enter');
    await page.getByText('No texts yet').waitFor();
    await page.keyboard.press('Control+k');
    await palette.fill('import');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Import texts' }).waitFor();
  });

  it('goes back and forward through the visited screens', async () => {
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

  it('says where an address leads nowhere, by its title too', async () => {
    const { page, goto } = await openPage(app);
    for (const route of ['/runs', '/runs/abc', '/nowhere']) await goto(route);
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
    expect(await page.title()).toBe('Page not found · Braid');
    await goto('/runs/0x7');
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.getByRole('link', { name: 'Open Home' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  });

  it('fits a small window, and one at 200%: nothing scrolls sideways, every screen has its name', async () => {
    const { page, goto, complaints } = await openPage(seeded, { width: 640, height: 450 });
    for (const route of [
      '/',
      '/texts',
      '/texts/make',
      '/curriculum',
      '/replies',
      '/runs',
      '/runs/1',
      '/samples?run=1',
    ]) {
      await goto(route);
      await expectNoSidewaysScroll(page, route);
    }
    for (const route of ['/compare', '/playground', '/models', '/settings', '/settings/doctor']) {
      await goto(route);
      await expectNoSidewaysScroll(page, route);
    }
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('link', { name: RUN }).waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('keeps state and actions in view beside a name of any length', async () => {
    const client = await connectTo(seeded);
    await client.runs.rename({ runId: 2, name: 'name '.repeat(90).trim() });
    const { page, goto } = await openPage(seeded, { width: 1000, height: 700 });
    await goto('/runs/2');
    const header = page.getByRole('main').locator('header');
    for (const part of [header.getByText('30/30'), header.getByRole('button', { name: 'Resume from …' })]) {
      await part.waitFor();
      const isInView = ({ x, y, width, height }: Box): boolean => x + width <= 1000 && y + height <= 700;
      await expect.poll(async () => isInView(await boxOf(part))).toBe(true);
    }
    await expectNoSidewaysScroll(page, '/runs/2');
    await client.runs.rename({ runId: 2, name: 'w'.repeat(200) });
    await goto('/');
    await page.getByRole('heading', { name: 'Newest learning curve' }).waitFor();
    await expectNoSidewaysScroll(page, '/');
  });

  it('prints what is below the window too, and only the screen', async () => {
    const { page, goto } = await openPage(seeded, { width: 1000, height: 300 });
    await goto('/runs/2');
    await page.emulateMedia({ media: 'print' });
    const main = page.getByRole('main');
    await expect.poll(async () => (await boxOf(main)).height).toBeGreaterThan(600);
    expect(await main.evaluate((element) => element.scrollHeight - element.clientHeight)).toBeLessThan(2);
    expect(await page.getByRole('navigation', { name: 'Screens' }).isVisible()).toBe(false);
    await page.emulateMedia({ media: null });
  });

  it('offers the tour once, points at each place without covering it, and starts it again from the palette', async () => {
    const { page, complaints } = await openPage(app);
    await page.getByRole('button', { name: 'Take the tour' }).click();
    const card = page.getByRole('dialog');
    const places = [
      ...['Texts & datasets', 'Curriculum', 'Runs', 'Samples', 'Compare'].map((name) =>
        page.getByRole('link', { name, exact: true }),
      ),
      page.locator('footer'),
    ];
    for (const [i, place] of places.entries()) {
      await card.getByText(`${i + 1} of 6`).waitFor();
      const isBeside = async (): Promise<boolean> => {
        const [shown, pointed] = [await boxOf(card), await boxOf(place)];
        return shown.x >= pointed.x + pointed.width || shown.y + shown.height <= pointed.y;
      };
      await expect.poll(isBeside, { message: `the card covers place ${i + 1}` }).toBe(true);
      if (i === 0) await expectAccessible(page);
      // The focus is on "Next", so that the tour can be followed by keyboard alone.
      await page.keyboard.press(i % 2 === 0 || i === 5 ? 'Enter' : 'ArrowRight');
    }
    await card.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    // The palette's code is loaded after the first screen; a press before that opens it as soon as it is there.
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/^Search actions/).waitFor();
    await page.keyboard.press('Escape');
    await page.getByPlaceholder(/^Search actions/).waitFor({ state: 'detached' });
    await page.getByText('Idle', { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Take the tour' }).count()).toBe(0);

    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/^Search actions/).fill('tour');
    await page.keyboard.press('Enter');
    await card.getByText('1 of 6').waitFor();
    await page.keyboard.press('Escape');
    await card.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  it('closes the notices with Escape, and on the way to another screen', async () => {
    const { page } = await openPage(app);
    const notices = page.getByRole('list', { name: 'Notices' });
    const bell = page.getByRole('button', { name: /notice/ });
    await bell.click();
    await notices.waitFor();
    await page.keyboard.press('Escape');
    await notices.waitFor({ state: 'hidden' });
    await bell.click();
    await notices.waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor();
    await notices.waitFor({ state: 'hidden' });
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
    await expect.poll(() => page.getByRole('textbox', { name: /Text A/ }).inputValue()).toBe('gh?');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('prerenders screens without side effects', async () => {
    const { page, goto, complaints } = await openPage(seeded, undefined, { looksAhead: true });
    await untilPrerendered(page);
    await expect.poll(() => page.title()).toBe('Home · Braid');
    await expect.poll(() => page.locator('h1').allTextContents()).toEqual(['Home']);
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Everywhere').waitFor();
    expect(await page.getByRole('dialog').getByText('Find a run').count()).toBe(0);
    await page.keyboard.press('Escape');
    await goto('/runs/1');
    await page.getByRole('heading', { level: 1, name: RUN }).waitFor();
    await firstChart(page).waitFor();
    await expect.poll(() => page.title()).toBe(`${RUN} · Braid`);
    expect(complaints).toEqual([]);
  });

  it("stays up when the code of a prerendered screen can't be loaded", async () => {
    const { page } = await openPage(seeded, undefined, { looksAhead: true });
    await page.route('**/assets/Runs-*.js', (route) => route.abort());
    await untilPrerendered(page);
    await expect.poll(() => page.locator('h1').allTextContents()).toEqual(['Home']);
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByText("This screen can't be shown").waitFor();
    await page.unroute('**/assets/Runs-*.js');
    await page.getByRole('link', { name: 'Samples', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Samples' }).waitFor();
  });

  it('keeps the page after a restart, and reconnects by the new address', async () => {
    const first = await stillUp();
    const { page, goto } = await openPage(first);
    await page.getByText('Idle', { exact: true }).waitFor();
    await goto('/playground');
    await page.getByRole('textbox', { name: /Text A/ }).fill('typed before');
    await first.stop();
    await page.getByText('Connection to the app lost').waitFor();
    const port = new URL(first.url).port;
    const second = await startApp(first.workspace, ['--port', port]);
    app = second;
    const banner = page.getByRole('region', { name: 'Session expired' });
    await banner.getByText('The session of this page has expired').waitFor();
    await expectAccessible(page);
    await banner.getByLabel('Printed address').fill(first.url);
    await banner.getByRole('button', { name: 'Reconnect' }).click();
    await banner.getByText('Not reconnected').waitFor();
    await banner.getByLabel('Printed address').fill(second.url);
    await banner.getByRole('button', { name: 'Reconnect' }).click();
    await banner.waitFor({ state: 'detached' });
    await page.getByText('Idle', { exact: true }).waitFor();
    await expect.poll(() => page.getByRole('textbox', { name: /Text A/ }).inputValue()).toBe('typed before');
    // The address is that of the new session.
    await page.reload();
    await page.getByText('Idle', { exact: true }).waitFor();
  });

  it('asks for a new page where an old one is reloaded after a restart', async () => {
    const first = await stillUp();
    const { page } = await openPage(first);
    await first.stop();
    const second = await startApp(first.workspace, ['--port', new URL(first.url).port]);
    await page.getByText('The session of this page has expired').waitFor();
    // A reload, too, says what happened instead of a bare refusal.
    await page.reload();
    await page.getByRole('heading', { name: 'Braid was restarted, or this is not its whole address' }).waitFor();
    await expectAccessible(page);
    await page.goto(second.url);
    await page.getByText('Idle', { exact: true }).waitFor();
  });
});

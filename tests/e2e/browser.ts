/**
 * A real browser for the tests: Debian's Chromium or the one in CHROMIUM_PATH. Without one, the tests are skipped and
 * say so.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { atEndOfFile } from '../end-of-file.ts';

/** The shell first: it has no windows, and takes two thirds of the processor time. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The browser's executable; null if there is none. */
export const browserPath: string | null = find();

/** For `describe.skipIf(noBrowser)`. */
export const noBrowser = browserPath === null;

if (noBrowser) {
  process.stderr.write('Browser tests are skipped: no Chromium on the PATH, and CHROMIUM_PATH is not set.\n');
}

function find(): string | null {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  if (CHROMIUM_PATH !== undefined) return CHROMIUM_PATH;
  const places = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return places.find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];

/** Starts it headless and without background network access. */
export function launchBrowser(extra: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath ?? '',
    args: ['--no-sandbox', '--disable-gpu', ...QUIET, ...extra],
  });
}

/**
 * Every page of a test process is drawn by one process, which has compiled the app's code once: half a second for each
 * page. They share a profile, as only then they may share that process.
 */
const SHARED = ['--renderer-process-limit=1'];

let profile: Promise<BrowserContext> | null = null;
let open: Page | null = null;

/** A page of the one browser of this test process; the page before it is closed. */
export async function newPage(): Promise<Page> {
  profile ??= newProfile().catch((error) => {
    profile = null;
    throw error;
  });
  const context = await profile;
  const page = await context.newPage();
  // Not before there is another one, or its process would end.
  await open?.close();
  open = page;
  await context.setOffline(false);
  // A page whose app has ended would look for it.
  atEndOfFile(() => page.isClosed() || page.goto('about:blank'));
  return page;
}

/** Animations are off, as axe would measure half-faded text. The browser ends with this process. */
async function newProfile(): Promise<BrowserContext> {
  const browser = await launchBrowser(SHARED);
  browser.on('disconnected', () => {
    [profile, open] = [null, null];
  });
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  return context;
}

/** Makes the page new to that origin: what other pages stored for it goes. */
export async function forget(page: Page, origin: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await session.detach();
}

/**
 * A real browser for the tests: Debian's Chromium or the one in CHROMIUM_PATH. Without one, the tests are skipped and
 * say so.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

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

/** Starts it headless and without background network access. */
export function launchBrowser(): Promise<Browser> {
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
  return chromium.launch({
    executablePath: browserPath ?? '',
    args: ['--no-sandbox', '--disable-gpu', ...quiet],
  });
}

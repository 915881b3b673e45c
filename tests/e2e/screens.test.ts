import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, type OpenPage, openPage, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { fullWorkspace } from './full-workspace.ts';

/** Every page of the app. */
const routes = [
  ...['/', '/texts', '/texts/make', '/texts/datasets', '/texts/dataset/1'],
  ...[
    '/tasks',
    '/tasks/interleave',
    '/tasks/second-text',
    '/tasks/format-and-correctness',
    '/tasks/format-and-correctness/import',
  ],
  ...['/curriculum', '/replies', '/experiments', '/experiments/1'],
  ...[
    '/runs',
    '/runs/2',
    '/runs/3',
    '/samples?run=2&step=40',
    '/samples?run=2&show=find',
    '/samples?run=2&show=record&record=r1',
    '/samples?show=pins',
    '/compare',
    '/compare/1',
    '/playground',
    '/models',
    '/settings',
    '/settings/doctor',
  ],
];

/** Width and height in CSS pixels; at 200% a window of 1280 × 900 has half of them. */
const sizes = [
  [700, 900],
  [1000, 800],
  [1280, 800],
  [1920, 1080],
  [640, 450],
] as const;

const all = sizes.flatMap((size) => (['light', 'dark'] as const).map((scheme) => ({ size, scheme })));
/** Where screenshots are taken, before a release, axe checks every window of both themes. */
const thorough = process.env.BRAID_SCREENS !== undefined;
/** Sizes don't depend on colours, so one size has both themes and the others take turns. */
const windows = all.filter(
  ({ size: [width], scheme }, i) => thorough || width === 1280 || (scheme === 'dark') === i % 4 < 2,
);
/** What axe finds depends on the colours, and on whether the window is wide or narrow. */
const isForAxe = (width: number): boolean => thorough || width === 1280 || width === 640;
/** The first of this size had the light theme. */
const isOfColours = (width: number, scheme: string): boolean => !thorough && width === 1280 && scheme === 'dark';

/** How far the page, or its main part, can be scrolled sideways, or the page itself down: only its main part should. */
function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const main = document.querySelector('main');
    const root = document.documentElement;
    return Math.max(
      (main?.scrollWidth ?? 0) - (main?.clientWidth ?? 0),
      root.scrollWidth - root.clientWidth,
      root.scrollHeight - root.clientHeight,
    );
  });
}

/** Saves a screenshot for looking at where BRAID_SCREENS names a folder. */
async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env.BRAID_SCREENS;
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

describe.skipIf(noBrowser)('every screen', () => {
  let opened: OpenPage;
  beforeAll(async () => {
    opened = await openPage(await startApp(await fullWorkspace()), undefined, { looksAhead: true });
    opened.page.setDefaultTimeout(60_000);
  });

  it.each(windows)('fits $size.0 × $size.1, $scheme', { timeout: 240_000 }, async ({ size, scheme }) => {
    const [width, height] = size;
    const { page, goto, complaints } = opened;
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    for (const route of routes) {
      await goto(route);
      await page.waitForFunction(
        () => document.querySelector('[role="status"]')?.textContent?.startsWith('Loading') !== true,
      );
      await expect.poll(() => overflow(page), { message: `${route} is larger than its window` }).toBeLessThanOrEqual(0);
      await shoot(page, `${route.replaceAll(/[^a-z0-9]+/gi, '-')}-${width}-${scheme}`);
      if (isForAxe(width)) await expectAccessible(page, isOfColours(width, scheme) ? 'colours' : 'all');
    }
    expect(complaints).toEqual([]);
  });
});

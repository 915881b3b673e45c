/** Acts by mouse on what a page may draw again at any moment, such as a chart whose settings have just arrived. */
import type { Locator, Page } from 'playwright-core';
import { vi } from 'vitest';

export type Box = NonNullable<Awaited<ReturnType<Locator['boundingBox']>>>;

const SOON = { timeout: 45_000, interval: 100 };

/** Where it is, in one read that is repeated until it is there. */
export function boxOf(what: Locator): Promise<Box> {
  return vi.waitFor(async () => {
    const box = await what.boundingBox();
    if (box === null) throw new Error(`Expected on the page: ${what}`);
    return box;
  }, SOON);
}

/** The page's first chart, where it is drawn. */
export const firstChart = (page: Page): Locator => page.locator('.u-over').first();

/** Points at a chart until what that leads to is there: a chart that is drawn again meanwhile loses the press. */
export async function pointAtChart(page: Page, act: (box: Box) => Promise<void>, leadsTo: Locator): Promise<void> {
  await vi.waitFor(async () => {
    await act(await boxOf(firstChart(page)));
    await leadsTo.waitFor({ timeout: 5000 });
  }, SOON);
}

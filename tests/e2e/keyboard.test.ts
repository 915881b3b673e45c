/** The whole path by keyboard alone, each control found as a screen reader names it: from texts to a comparison. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openPage, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

const MOST_TABS = 90;

type Role = Parameters<Page['getByRole']>[0];

/** Presses Tab, or Shift+Tab to what lies before the focus, until the focus is there; expects that it can be seen. */
async function tabTo(page: Page, role: Role, name: string | RegExp): Promise<void> {
  const wanted = page.getByRole(role, typeof name === 'string' ? { name, exact: true } : { name }).first();
  await wanted.waitFor();
  for (let presses = 0; presses < MOST_TABS; presses++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) {
      expect(await wanted.evaluate((element) => element.matches(':focus-visible')), String(name)).toBe(true);
      return;
    }
    const isBehind = await wanted.evaluate(
      (element) =>
        element.compareDocumentPosition(document.activeElement ?? element) === Node.DOCUMENT_POSITION_FOLLOWING,
    );
    await page.keyboard.press(isBehind ? 'Shift+Tab' : 'Tab');
  }
  throw new Error(`Expected to reach ${role} "${name}" within ${MOST_TABS} presses of Tab`);
}

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key);
}

/** Replaces what a field has. */
async function typeInto(page: Page, name: string, text: string): Promise<void> {
  await tabTo(page, 'textbox', name);
  await press(page, 'Control+a');
  await page.keyboard.type(text);
}

describe.skipIf(noBrowser)('the keyboard alone', () => {
  it('leads from texts to a dataset, a stage, a run, its samples and a comparison', async () => {
    const { page, complaints } = await openPage(await startApp());
    // A pre-flight check trains a few steps: minutes where all cores are busy.
    page.setDefaultTimeout(180_000);
    const title = (name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

    await press(page, 'g', 't');
    await tabTo(page, 'button', 'Load the bundled texts');
    await press(page, 'Enter');
    await page.getByText('64 texts', { exact: true }).waitFor();

    await tabTo(page, 'link', 'Make datasets');
    await press(page, 'Enter');
    await typeInto(page, 'Training pairs', '40');
    await typeInto(page, 'Test pairs', '8');
    await page.getByText('Train 40').waitFor();
    await tabTo(page, 'button', /^Make \d datasets$/);
    await press(page, 'Enter');
    await page.getByText('Created').waitFor();

    await press(page, 'g', 'c');
    await title('Curriculum');
    await tabTo(page, 'button', 'Plan the whole curriculum');
    await press(page, 'Enter');
    await page.getByText('40 steps, 40 pairs').first().waitFor();
    await press(page, 'a');
    await typeInto(page, 'Steps', '2');
    await typeInto(page, 'Find a setting', 'eval_records');
    await typeInto(page, 'eval_records', '4');
    await tabTo(page, 'button', 'Save');
    await press(page, 'Enter');
    await page.getByText('2 steps, 1 changed').waitFor();
    // The list can have the change before the form closes, and an open form takes every key.
    await page.getByRole('dialog').waitFor({ state: 'hidden' });

    await press(page, 's');
    await tabTo(page, 'button', 'Start');
    await press(page, 'Enter');
    await page.waitForURL(/#\/runs\/1$/);
    await page.getByText('2/2').first().waitFor();

    await press(page, 'g', 's');
    await title('Samples');
    await page.getByText('step 2', { exact: false }).first().waitFor();
    await press(page, 'j');
    await press(page, 'b');

    await press(page, 'g', 'x');
    await title('Compare');
    await typeInto(page, 'Prompts', '4');
    await tabTo(page, 'button', 'Compare');
    await press(page, 'Enter');
    await page
      .getByText(/^\d+ · \d+ · \d+$/)
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  }, 480_000);
});

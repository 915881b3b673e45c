import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeZip } from '../../main/io/make-zip.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyDataset } from '../tiny-dataset.ts';
import { connectTo } from './api.ts';
import { expectAccessible, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

const words = (count: number, from: number): string =>
  Array.from({ length: count }, (_, i) => `w${(from + i * 7919) % 99_991}`).join(' ');

/** Pastes like a browser: the event carries the text. */
async function paste(page: Page, text: string): Promise<void> {
  await page.evaluate((pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', pasted);
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

/** Opens the texts; the bundled ones are loaded first. */
async function openTexts(app: RunningApp) {
  const opened = await openPage(app);
  await opened.goto('/texts');
  await opened.page.getByRole('button', { name: 'Load the bundled texts' }).click();
  await opened.page.getByText('64 texts', { exact: true }).waitFor();
  return opened;
}

/** Neither Escape nor another screen drops by accident what was entered. */
async function expectQuestion(page: Page): Promise<void> {
  const question = page.getByRole('dialog', { name: 'Discard your changes?' });
  for (const leave of [() => page.keyboard.press('Escape'), () => page.evaluate(() => location.assign('#/runs'))]) {
    await leave();
    await question.getByRole('button', { name: 'Keep editing' }).click();
    await question.waitFor({ state: 'detached' });
  }
}

describe.skipIf(noBrowser)('texts', () => {
  let app: RunningApp;
  let client: Awaited<ReturnType<typeof connectTo>>;
  beforeAll(async () => {
    app = await startApp();
    client = await connectTo(app);
  });
  // Each test adds and deletes its own.
  afterEach(async () => {
    const ids = (await client.texts.list({})).map(({ id }) => id);
    if (ids.length > 0) await client.texts.remove({ ids });
  });

  it('loads the bundled texts first, then searches, sorts, renames and deletes', async () => {
    const { page, goto, complaints } = await openPage(app);
    await goto('/texts');
    await page.getByText('No texts yet').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Load the bundled texts' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('64 texts', { exact: true }).waitFor();
    // The button has gone; the focus stays in the screen, so that the next Tab is near.
    await page.waitForFunction(() => document.activeElement?.closest('main') != null);
    await page.getByText('Every stage is ready').waitFor();
    await expectAccessible(page);

    const title = (row: number) => page.locator(`[data-row="${row}"]`);
    await page.getByRole('button', { name: 'Words' }).click();
    expect(await title(0).evaluate((cell) => cell.closest('tr')?.textContent)).toContain('1,231');
    await page.keyboard.press('/');
    await page.keyboard.type('walnut');
    await page.getByText(/^\d+ of 64 texts$/).waitFor();
    await title(0).click();
    const reader = page.getByRole('dialog');
    // Right-to-left paragraphs run from the right.
    expect(await reader.locator('.own-direction').evaluate((prose) => getComputedStyle(prose).unicodeBidi)).toBe(
      'plaintext',
    );
    await reader.getByLabel('Title').fill('A walnut tree');
    await reader.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('button', { name: 'A walnut tree', exact: true }).waitFor({ state: 'attached' });
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await reader.waitFor({ state: 'hidden' });

    await page.getByRole('button', { name: 'Clear the search' }).click();
    await page.getByLabel('Texts', { exact: true }).focus();
    for (const key of ['j', 'x', 'j', 'x', 'Delete']) await page.keyboard.press(key);
    const asked = page.getByRole('dialog', { name: 'Delete 2 texts?' });
    await asked.getByRole('listitem').nth(1).waitFor();
    await asked.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('62 texts', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('previews an import with its errors, and stores nothing before the confirmation', async () => {
    const { page } = await openTexts(app);
    const folder = temporaryFolderOfFile();
    const file = (name: string, content: string | Uint8Array): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const letter = words(700, 1);
    await page.keyboard.press('i');
    await page
      .getByLabel('Files to import')
      .setInputFiles([
        file('bad.jsonl', '{"text":"fine words"}\n{"text":5}\n'),
        file('picture.txt', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0])),
        file('letters.json', JSON.stringify({ Letter: letter, Copy: `${letter} again`, Short: words(30, 50_000) })),
      ]);
    const dialog = page.getByRole('dialog', { name: 'Import texts' });
    await dialog.getByText('4 texts found, 3 new, 1 skipped as a duplicate.').waitFor();
    await dialog.getByRole('button', { name: 'Import 3 of 5 texts' }).waitFor();
    await expect
      .poll(() => dialog.getByLabel('File errors').textContent())
      .toMatch(/bad\.jsonl[\s\S]*line 2: expected "text" to be a string, got 5/);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByText('64 texts', { exact: true }).waitFor();

    await paste(page, JSON.stringify({ Letter: letter, Short: words(30, 50_000) }));
    await dialog.getByRole('checkbox', { name: 'Import Short' }).click();
    // Read again, it is the same choice.
    await dialog.getByLabel('Min. answer length').fill('60');
    await page.keyboard.press('Tab');
    await dialog.getByText('Reading').waitFor({ state: 'detached' });
    await dialog.getByRole('button', { name: 'Import 1 text' }).click();
    await page.getByText('1 text imported.').waitFor();
    await page.getByText('65 texts', { exact: true }).waitFor();
  });

  it('imports the good lines of a file, other encodings, and the .zip of a chat export', async () => {
    const { page } = await openTexts(app);
    const folder = temporaryFolderOfFile();
    const file = (name: string, content: string | Uint8Array): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const conversation = { title: 'Tides', messages: [{ role: 'assistant', content: words(80, 11) }] };
    const zip = makeZip([
      { name: 'conversations.json', content: JSON.stringify([conversation]) },
      { name: 'user.json', content: '{"email":"me@example.org"}' },
      { name: 'image.png', content: 'x' },
    ]);
    await page.keyboard.press('i');
    const lines = [words(20, 1), 5, words(20, 2000), words(20, 40_000)].map((text) => JSON.stringify({ text }));
    await page
      .getByLabel('Files to import')
      .setInputFiles([
        file('notes.jsonl', `${lines.join('\n')}\n`),
        file('brief.txt', Buffer.from('Liebe Grüße aus Köln und bis später', 'latin1')),
        file('note.txt', Buffer.from(`\ufeff${words(12, 70_000)}`, 'utf16le')),
        file('export.zip', zip),
        file('up.zip', makeZip([{ name: '../up.txt', content: 'words' }])),
      ]);
    const dialog = page.getByRole('dialog', { name: 'Import texts' });
    await dialog.getByText('6 texts found, 6 new.').waitFor();
    await dialog.getByText('notes.jsonl').waitFor();
    await expect
      .poll(() => dialog.getByLabel('File errors').textContent())
      .toMatch(
        /1 line has an error and 1 file can't be read[\s\S]*line 2: expected "text"[\s\S]*up\.zip[\s\S]*invalid relative path/,
      );
    await dialog
      .getByText(/note\.txt was read as UTF-16\. brief\.txt was read as Windows-1252\. 2 other files/)
      .waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Import 6 of 7 texts' }).click();
    await page.getByText('6 texts imported.').waitFor();
    await page.getByText('70 texts', { exact: true }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('Tides');
    await page.getByRole('button', { name: 'Tides', exact: true }).waitFor();
  });

  it('compares near duplicates of an import and of the corpus, and keeps one or both', async () => {
    const { page, complaints } = await openTexts(app);
    const draft = words(60, 1);
    await paste(page, JSON.stringify({ Draft: draft }));
    const dialog = page.getByRole('dialog', { name: 'Import texts' });
    await dialog.getByRole('button', { name: 'Import 1 text' }).click();
    await page.getByText('65 texts', { exact: true }).waitFor();

    await paste(page, JSON.stringify({ Final: `${draft} and two`, Other: `${draft} or three words` }));
    await dialog.getByText('2 texts found, 0 new, 2 skipped as duplicates.').waitFor();
    await dialog.getByRole('button', { name: 'Compare … Final' }).click();
    const compared = page.getByRole('dialog', { name: 'Two similar texts' });
    await compared.getByText('60 words in common, 0 only in the first, 2 only in the second').waitFor();
    await expect.poll(() => compared.locator('mark').allTextContents()).toEqual(['and two']);
    await expectAccessible(page);
    await compared.getByRole('button', { name: 'Keep both' }).click();
    await dialog.getByText('2 texts found, 0 new, 1 kept with a similar text, 1 skipped as a duplicate.').waitFor();
    await expectQuestion(page);
    await dialog.getByRole('button', { name: 'Compare … Other' }).click();
    await compared.getByRole('button', { name: 'Skip the new one' }).click();
    await dialog.getByRole('button', { name: 'Import 1 text' }).click();
    await page.getByText('1 text imported', { exact: false }).waitFor();
    await page.getByText('66 texts', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Similar texts …' }).click();
    await page.getByRole('dialog', { name: 'Similar texts' }).getByText('No similar texts').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.keyboard.type('Final');
    await page.getByRole('button', { name: 'Final', exact: true }).click();
    const reader = page.getByRole('dialog', { name: 'Text', exact: true });
    await reader.getByText('for training').waitFor();
    expect(complaints).toEqual([]);
  });

  it('edits, tags and splits a text, and undoes a merge', async () => {
    const { page, complaints } = await openTexts(app);
    const book = ['one', 'two', 'three'].map((n, i) => `# Part ${n}\n\n${words(40, 10_000 * i)}`).join('\n\n');
    await paste(page, JSON.stringify({ 'The book': book, Note: words(30, 5) }));
    const dialog = page.getByRole('dialog', { name: 'Import texts' });
    await dialog.getByRole('button', { name: 'Import 2 texts' }).click();
    await page.getByText('66 texts', { exact: true }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('The book');
    await page.getByRole('button', { name: 'The book', exact: true }).click();
    const reader = page.getByRole('dialog', { name: 'Text', exact: true });
    await reader.getByLabel('Tags', { exact: true }).fill('novel');
    await page.keyboard.press('Enter');
    await reader.getByRole('button', { name: 'Edit' }).click();
    await reader.getByLabel('Words', { exact: true }).fill(`${book}\n\n# Part four\n\n${words(40, 50_000)}`);
    await expectQuestion(page);
    await reader.getByRole('button', { name: 'Save' }).click();
    await reader.getByText('172 words').waitFor();
    await expectAccessible(page);

    await reader.getByRole('button', { name: 'Split …' }).click();
    const split = page.getByRole('dialog', { name: 'Split “The book”' });
    await split.getByRole('region', { name: 'Pieces' }).getByText('The book: Part four').waitFor();
    await expectAccessible(page);
    await split.getByLabel('Shortest piece').fill('30');
    await expectQuestion(page);
    await split.getByRole('button', { name: 'Split into 4 texts' }).click();
    await page.getByText('“The book” was split into 4 texts.').waitFor();

    await page.getByLabel('Filter by tag').click();
    await page.getByRole('option', { name: 'novel' }).click();
    await page.getByText('4 of 69 texts').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Select all shown').click();
    await page.getByRole('button', { name: 'Merge these …' }).click();
    await page.getByRole('button', { name: 'Merge 4 texts into 1' }).click();
    await page.getByText('4 texts merged into 1.').waitFor();
    await page.getByText('1 of 66 texts').waitFor();
    await page.getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('The merge was undone.').waitFor();
    await page.getByText('4 of 69 texts').waitFor();
    expect(complaints).toEqual([]);
  });

  it('merges short texts after a preview', async () => {
    const { page } = await openTexts(app);
    await page.keyboard.press('m');
    const dialog = page.getByRole('dialog', { name: 'Merge texts' });
    // Who works by keyboard is in it, though there is nothing to confirm before the preview.
    await expect.poll(() => dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    await dialog.getByLabel('Merged texts').fill('1');
    const merge = dialog.getByRole('button', { name: /^Merge \d+ texts into 1$/ });
    await dialog.getByText('Texts per stage, before and after').waitFor();
    await expectAccessible(page);
    await dialog.getByRole('textbox', { name: /Title of the merged text/ }).fill('Joined by hand');
    await merge.click();
    await page.getByText(/texts merged into 1\./).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('joined by hand');
    await page.getByText(/^1 of \d+ texts$/).waitFor();
  });
});

describe.skipIf(noBrowser)('texts that stay as they are, and what is made of them', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp();
    await openTexts(app);
  });

  it('imports a pasted chat export of 20 MB, and explains why it refuses more than 64 MiB', async () => {
    const { page, goto } = await openPage(app);
    await goto('/texts');
    const size = await page.evaluate(() => {
      const answer = (i: number) =>
        Array.from({ length: i % 4000 === 1 ? 90 : 12 }, (_, k) => `w${(i * 31 + k * 17) % 9973}`);
      const message = (i: number) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content: answer(i).join(' ') });
      const messages = Array.from({ length: 200_000 }, (_, i) => message(i));
      const text = JSON.stringify([{ title: 'A long conversation', messages }]);
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', text);
      document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
      return text.length;
    });
    expect(size).toBeGreaterThan(20e6);
    const dialog = page.getByRole('dialog', { name: 'Import texts' });
    await dialog.getByText('50 texts found, 50 new.').waitFor({ timeout: 60_000 });
    await page.keyboard.press('Escape');

    await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(65 * 2 ** 20)], 'huge.txt'));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    });
    await page.getByText(/These files have 65 MiB; the limit of one import is 64 MiB/).waitFor();
  }, 120_000);

  it('adds dataset files that are not listed yet, and names the invalid line of a broken one', async () => {
    writeTinyDataset(join(app.workspace, 'datasets', 'brought.jsonl'));
    writeFileSync(join(app.workspace, 'datasets', 'broken.jsonl'), '{"id":"a","fragment_a":"one","fragment_b":5}\n');
    const { page, goto, complaints } = await openPage(app);
    await goto('/texts/datasets');
    await page.getByText('Unlisted files in the datasets folder').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Add broken' }).click();
    await page.getByText('The dataset could not be added').waitFor();
    await page.getByText(/broken\.jsonl, line 1: expected/).waitFor();
    await page.getByRole('button', { name: 'Add brought' }).click();
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'brought' }) });
    await row.getByRole('cell', { name: '12', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add brought' }).waitFor({ state: 'hidden' });
    await row.getByRole('link', { name: 'brought' }).click();
    await page.getByText('2w-train-0001').waitFor();
    expect(complaints).toEqual([]);
  });

  it('makes the curriculum, opens a dataset, searches it, and deletes it by name', async () => {
    const { page, goto, complaints } = await openPage(app);
    await goto('/texts/make');
    await page.getByText('Held out: training and test share no text').waitFor();
    await page.getByLabel('Training pairs').fill('40');
    await page.getByLabel('Test pairs').fill('10');
    await page.getByText('Train 40').waitFor();
    await expectAccessible(page);
    // What can't be used stays as it was typed, with its bounds, which can be read on dark ground too.
    await page.getByLabel('Test pairs').fill('0');
    await page.getByText('1 to 100,000').waitFor();
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await expectAccessible(page);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await page.getByLabel('Test pairs').fill('10');
    await page.getByRole('switch', { name: 'One dataset, all word counts mixed' }).press(' ');
    await page.getByText('One dataset of 10–500 words, mixed').waitFor();
    await page.getByRole('button', { name: 'Make 1 dataset' }).click();
    await page.getByRole('link', { name: '10-25-50-100-200-500words' }).waitFor();
    await page.getByRole('switch', { name: 'One dataset of 10–500 words, mixed' }).press(' ');
    await page.getByRole('button', { name: 'Make 6 datasets' }).click();
    await page.getByRole('link', { name: '500words', exact: true }).waitFor();
    await page.getByText('will be replaced').waitFor();
    await page.getByRole('button', { name: 'Make 6 datasets' }).click();
    await page.getByRole('dialog', { name: 'Replace existing datasets?' }).getByText('100words').waitFor();
    await page.keyboard.press('Escape');

    await page.getByLabel('Another word count').fill('4000');
    await page.keyboard.press('Enter');
    await page.getByText(/4000 words: expected at least 4 texts.*add 4 such texts/).waitFor();
    expect(await page.getByLabel('Another word count').inputValue()).toBe('');

    await page.getByRole('link', { name: '10words' }).click();
    await page.getByRole('heading', { level: 1, name: '10words' }).waitFor();
    await page.getByRole('article').first().waitFor();
    const first = await page.getByRole('article').first().getByText(/^10w-/).textContent();
    await page.getByText('Held out: training and test share no text').waitFor();
    await page.getByText('Test 10').click();
    await page.getByText('10w-test-0001').waitFor();
    await page.getByText('Train 40').click();
    await page.getByText(first ?? '').waitFor();
    await page.getByLabel('Search titles and words').fill('zzzz');
    await page.getByText('No record contains “zzzz”').waitFor();
    await page.getByRole('button', { name: 'Clear the search' }).click();
    await page.getByText(first ?? '').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Delete …' }).click();
    const asked = page.getByRole('dialog', { name: 'Delete 10words?' });
    await asked.getByText('No stage or run depends on it.').waitFor();
    await asked.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Texts & datasets' }).waitFor();
    await page.getByRole('link', { name: '25words' }).waitFor();
    expect(await page.getByRole('link', { name: '10words', exact: true }).count()).toBe(0);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('versions templates and says what is wrong with one', async () => {
    const { page, goto } = await openPage(app);
    await goto('/texts/make');
    await page.getByRole('button', { name: 'Edit …' }).click();
    const editor = page.getByRole('dialog', { name: 'Prompt template process v1' });
    await editor.getByLabel('Name').fill('plain');
    await editor.getByLabel('Prompt').fill('First: {fragment_a}');
    await editor.getByRole('button', { name: 'Save as new version' }).click();
    await editor.getByText('got none of {fragment_b}').waitFor();
    await editor.getByLabel('Prompt').fill('First: {fragment_a}\nSecond: {fragment_b}');
    await editor.getByRole('button', { name: 'Save as new version' }).click();
    await page.getByRole('button', { name: 'Prompt', exact: true }).first().click();
    await page.getByText('Second:').waitFor();
    await expectAccessible(page);
  });
});

import { beforeAll, describe, expect, it, vi } from 'vitest';
import { expectAccessible, openPage, picture, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

vi.setConfig({ testTimeout: 120_000 });

describe.skipIf(noBrowser)('the Replies screen', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp();
  });

  it('shows the sample, splits it with checks and figure, and says what each method still needs', async () => {
    const { page, complaints } = await openPage(app);
    await page.keyboard.press('g');
    await page.keyboard.press('y');
    await page.getByText('480 pairs to train on').waitFor();
    expect(await page.getByText('needs the split').count()).toBe(4);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Split', exact: true }).click();
    await page.getByText('No overlap: no post stands on both sides').waitFor();
    await page.getByRole('img', { name: /^Engagement up to / }).waitFor();
    expect(await page.getByText('needs a baseline that is done').count()).toBe(2);
    expect(await page.getByRole('button', { name: 'Start with seed 42: Baseline' }).isEnabled()).toBe(true);
    await picture(page, 'replies');
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('takes a file in, or names every line that is wrong', async () => {
    const { page, goto } = await openPage(app);
    await goto('/replies');
    const chooser = page.getByLabel('Reply records to import');
    await chooser.setInputFiles({ name: 'bad.jsonl', mimeType: 'text/plain', buffer: Buffer.from('{"id":"a"}\nnope') });
    await page.getByText(/bad\.jsonl, line 2: not JSON/).waitFor();
    await expectAccessible(page);
    const records = Array.from({ length: 30 }, (_, i) => ({
      ...{ id: `r${i}`, post: `post number ${i}`, reply: `reply number ${i}` },
      engagement: { likes: i, reposts: 0, replies: 0 },
    }));
    const buffer = Buffer.from(records.map((record) => JSON.stringify(record)).join('\n'));
    await chooser.setInputFiles({ name: 'mine.jsonl', mimeType: 'text/plain', buffer });
    await page.getByText('Back to the bundled sample').waitFor();
    await page.getByText('27 pairs to train on').waitFor();
  });
});

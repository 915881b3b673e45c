import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { expectAccessible, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { modelWorkspace } from './model-workspace.ts';

const A = 'the rain had been falling on the roof of the old mill since the morning';
const B = 'nobody told him that the last train would leave before the bell was rung';

describe.skipIf(noBrowser)('the playground', () => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp();
  });

  it('streams an answer beside the exact target', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/playground');
    await page.getByText('Enter both texts').waitFor();
    await page.getByRole('textbox', { name: /Text A/ }).fill(A);
    await page.getByRole('textbox', { name: /Text B/ }).fill(B);
    await page.getByLabel('Words per text').fill('6');
    await page.getByRole('group', { name: 'Target: all words right' }).getByText('nobody').waitFor();
    await page.getByRole('textbox', { name: /Text B/ }).press('Control+Enter');
    const answer = page.getByRole('region', { name: 'Model 1' });
    await answer.getByText(/of 12 words right/).waitFor();
    await answer.getByText(/exact|first error/).waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('plays a record of a task turn by turn, with its reward, and keeps it in the history', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/tasks/follow-the-cue');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Try in Playground' }).click();
    await page.getByLabel('Records', { exact: true }).selectOption({ label: 'Its own records, held out' });
    await page.getByRole('spinbutton', { name: 'Record of 47' }).fill('2');
    await page.getByText('Process A reads: done. It was.').waitFor();
    await page.getByText('up to 3; the environment answers each of them').waitFor();
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    const lane = page.getByRole('region', { name: 'Model 1' });
    const turns = lane.getByRole('list', { name: 'Completion of model 1' }).getByRole('listitem');
    await lane.getByTitle('Reward', { exact: true }).waitFor();
    await expect.poll(() => turns.nth(1).innerText()).toMatch(/Environment\s+The word is glasses/);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Next record' }).click();
    await page.getByRole('button', { name: 'follow-the-cue, record 2' }).click();
    await page.getByText('Process A reads: done. It was.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('takes several samples of a model, and shows them again from the history', async () => {
    const { page, goto, complaints } = await openPage(app);
    await goto('/playground');
    await page.getByRole('textbox', { name: /Text A/ }).fill(A);
    await page.getByRole('textbox', { name: /Text B/ }).fill(B);
    await page.getByLabel('Words per text').fill('6');
    const temperature = page.getByLabel('Temperature');
    await temperature.fill('');
    await temperature.pressSequentially('1,000');
    await page.getByRole('alert').getByText('Enter a number').waitFor();
    await temperature.blur();
    expect(await temperature.inputValue()).toBe('0');
    await temperature.fill('');
    await temperature.pressSequentially('1,0');
    await temperature.blur();
    expect(await temperature.inputValue()).toBe('1');
    await page.getByLabel('Samples', { exact: true }).fill('2');
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    const lane = page.getByRole('region', { name: 'Model 1' });
    await lane.getByText(/^2 samples: mean/).waitFor();
    const earlier = page.getByRole('button', { name: /^the rain had been/ }).first();
    await earlier.waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
    expect(await lane.getByText(/^2 samples: mean/).count()).toBe(0);
    await earlier.click();
    await lane.getByText(/^2 samples: mean/).waitFor();
    await lane.getByRole('group', { name: /^Completion of model 1, sample 2/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('chats with models side by side, keeps the conversation and makes it a record', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/playground?chat=bundled:tiny');
    await page.getByText('No chat template: it reads plain lines').waitFor();
    await page.locator('summary').filter({ hasText: 'Settings' }).click();
    await page.getByLabel('Temperature').fill('0');
    await page.getByLabel('Max tokens').fill('24');
    await expectAccessible(page);
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.fill('the rain had been falling');
    await message.press('Shift+Enter');
    // Safari's Enter that accepts what an input method offers.
    await message.evaluate((field) => {
      field.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }),
      );
    });
    await expect.poll(() => message.inputValue()).toBe('the rain had been falling\n');
    await message.press('Enter');
    const first = page.getByRole('region', { name: 'tiny, answer 1' });
    await first.getByText(/tokens\/s/).waitFor();
    await first.locator('[data-token]').first().hover();
    await page.getByRole('tooltip').getByText('%').first().waitFor();
    // Who listens to the screen hears the answer once it is finished.
    await expect.poll(() => page.getByRole('log').innerText()).toMatch(/^tiny: /);
    await page.getByRole('button', { name: 'Add model' }).click();
    await page.getByRole('combobox', { name: 'Model 2' }).click();
    await page.getByRole('option', { name: 'tiny-reply' }).click();
    await page.getByRole('button', { name: 'Edit your message 1' }).click();
    await page.getByRole('textbox', { name: 'Your message' }).fill('the bell was rung');
    await page.getByRole('button', { name: 'Ask again' }).click();
    await page
      .getByRole('region', { name: 'tiny-reply, answer 1' })
      .getByText(/tokens\/s/)
      .waitFor();
    await first.getByText(/tokens\/s/).waitFor();
    await first.getByRole('button', { name: 'Edit tiny, answer 1' }).click();
    const answer = page.getByRole('textbox', { name: 'Answer of tiny' });
    await answer.fill('It was.');
    await answer.press('Escape');
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await first.getByText('edited').waitFor();
    await page.getByRole('button', { name: 'Keep', exact: true }).click();
    await page.getByRole('button', { name: 'Kept', exact: true }).waitFor();
    await expectAccessible(page);
    await first.getByRole('button', { name: 'More for tiny, answer 1' }).click();
    await page.getByRole('menuitem', { name: 'Add to a dataset …' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('bells');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await page.getByRole('button', { name: 'Add record' }).click();
    await page.getByText('Added as chat-1 to bells').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'New', exact: true }).click();
    await page.getByText('Say something').waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Kept conversations …' }).click();
    await page.getByRole('button', { name: 'Actions for the bell was rung' }).click();
    await page.getByRole('menuitem', { name: 'Rename …' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('bells at night');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await page.getByRole('textbox', { name: 'Title' }).press('Enter');
    await page.getByRole('button', { name: 'bells at night', exact: true }).click();
    await first.getByText('It was.').waitFor();
    await first.getByText('edited').waitFor();
    await message.fill('more and more');
    await page.getByLabel('Max tokens').fill('400');
    await message.press('Enter');
    await page.getByText('Escape stops').waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Enter sends').waitFor();
    expect(complaints).toEqual([]);
  });

  it('can be cancelled and run again', async () => {
    const { page, goto } = await openPage(app);
    await goto('/playground');
    await page.getByRole('textbox', { name: /Text A/ }).fill(A);
    await page.getByRole('textbox', { name: /Text B/ }).fill(B);
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByText('Cancelled', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    await page
      .getByRole('region', { name: 'Model 1' })
      .getByText(/exact|first error/)
      .waitFor();
  });

  it('reports per model that it was deleted from disk or is unreadable', async () => {
    const workspace = await modelWorkspace();
    const own = await startApp(workspace);
    const { page, goto, complaints } = await openPage(own);
    await goto('/playground');
    await page.getByRole('textbox', { name: /Text A/ }).fill(A);
    await page.getByRole('textbox', { name: /Text B/ }).fill(B);
    await page.getByLabel('Words per text').fill('6');
    const choose = async (model: number, name: string): Promise<void> => {
      await page.getByRole('combobox', { name: `Model ${model}` }).click();
      await page.getByRole('option', { name, exact: name === 'tiny' }).click();
    };
    await choose(1, 'step 20');
    await choose(2, 'random');
    rmSync(join(workspace, 'outputs/run-0001-10words-grpo/checkpoint-20'), { recursive: true });
    writeFileSync(join(workspace, 'models/random/model.safetensors'), 'not a model');
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    await page.getByRole('region', { name: 'Model 1' }).getByText('was deleted').waitFor();
    await page.getByRole('region', { name: 'Model 2' }).getByText('model.safetensors').first().waitFor();
    await expectAccessible(page);
    await choose(1, 'tiny');
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    await page
      .getByRole('region', { name: 'Model 1' })
      .getByText(/exact|first error/)
      .waitFor();
    expect(complaints).toEqual([]);
  });

  it("reports errors in place: a text too long, a model that can't hold it", async () => {
    const { page, goto } = await openPage(app);
    await goto('/playground');
    await page.getByRole('textbox', { name: /Text A/ }).fill('word '.repeat(1200));
    await page.getByRole('textbox', { name: /Text B/ }).fill(B);
    await page.getByText('Expected text A to have at most 1000 words, got 1200').waitFor();
    await page.getByLabel('Words per text').fill('5');
    await page.getByLabel('Max tokens').fill('30000');
    await page.getByRole('button', { name: 'Generate', exact: true }).click();
    await page.getByRole('region', { name: 'Model 1' }).getByText('max_position_embeddings').waitFor();
  });
});

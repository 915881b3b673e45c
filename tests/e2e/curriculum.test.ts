import { describe, expect, it } from 'vitest';
import { expectAccessible, openPage, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

describe.skipIf(noBrowser)('home and curriculum', () => {
  it('lead from an empty workspace to a planned curriculum, a pre-flight check and a run', async () => {
    const app = await startApp();
    const { page, complaints, goto } = await openPage(app);
    page.setDefaultTimeout(90_000);
    await page.getByRole('button', { name: 'Run the demo stage' }).waitFor();
    await expectAccessible(page);

    await goto('/curriculum');
    await page.getByLabel('Completions per prompt').fill('8');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Plan the whole curriculum' }).click();
    await page.getByRole('button', { name: /500 words/ }).waitFor();
    // The bundled texts are enough for the first lengths; the datasets are made in the background.
    await page.getByText('40 steps, 512 pairs').first().waitFor();
    await page.keyboard.press('ArrowLeft');
    // The form of a stage of long texts says why its learning rate isn't the preset's.
    await page.getByRole('button', { name: /^100 100 words/ }).click();
    await page.getByRole('button', { name: 'Adjust', exact: true }).click();
    const long = page.getByRole('dialog');
    await long.getByText('The default learning_rate is 7e-5 here').waitFor();
    await expect.poll(() => long.getByLabel('learning_rate', { exact: true }).inputValue()).toBe('7e-5');
    await expectAccessible(page);
    await long.getByRole('button', { name: 'Cancel' }).click();
    await long.waitFor({ state: 'detached' });
    // One that is only being added, too.
    await page.getByRole('button', { name: 'Add stage' }).click();
    const added = page.getByRole('dialog', { name: 'New stage' });
    await expect.poll(() => added.getByLabel('learning_rate', { exact: true }).inputValue()).toBe('2e-4');
    await added.getByLabel('Words', { exact: true }).fill('100');
    await added.getByText('The default learning_rate is 7e-5 here').waitFor();
    await expect.poll(() => added.getByLabel('learning_rate', { exact: true }).inputValue()).toBe('7e-5');
    await added.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog', { name: 'Discard your changes?' }).getByRole('button', { name: 'Discard' }).click();
    await added.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^10 10 words/ }).click();

    // What was chosen for all stages is every stage's default, and a change of it too.
    await page.getByRole('button', { name: 'Settings of all stages' }).click();
    const all = page.getByRole('dialog');
    await expect.poll(() => all.getByLabel('num_generations').inputValue()).toBe('8');
    await all.getByLabel('num_generations').fill('16');
    await expectAccessible(page);
    await all.getByRole('button', { name: 'Save' }).click();
    await all.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Adjust', exact: true }).click();
    const form = page.getByRole('dialog');
    // What is set above its settings is found among them, too.
    await form.getByLabel('Find a setting').fill('max_steps');
    await form.getByText('Set above: Steps.').waitFor();
    await expectAccessible(page);
    await form.getByLabel('Find a setting').fill('');
    // Whatever the field has, its menu offers every model until one types.
    const model = form.getByRole('combobox', { name: 'model', exact: true });
    await model.fill('tiny-reply');
    await page.keyboard.press('Tab');
    await model.click();
    await page.getByRole('listbox', { name: 'model' }).getByText('tiny', { exact: true }).click();
    await expect.poll(() => model.inputValue()).toBe('tiny');
    await form.getByRole('button', { name: 'model changed; reset to tiny' }).click();
    await form.getByLabel('Steps', { exact: true }).fill('2');
    await form.getByLabel('per_device_train_batch_size').fill('8');
    await form.getByText('to be a multiple of num_generations (16)').waitFor();
    await expect.poll(() => form.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await form.getByLabel('per_device_train_batch_size').fill('64');
    await form.getByText('to be a multiple of').waitFor({ state: 'detached' });
    // A sixth of the steps, but one at least.
    expect(await form.getByLabel('eval_steps').inputValue()).toBe('1');
    await expectAccessible(page);
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByText('2 steps, 1 changed').waitFor();

    await page.getByRole('button', { name: 'Start stage' }).click();
    await page.getByText('Rewards differ').first().waitFor();
    // Four groups a generation, and up to three generations until rewards of a group differ.
    await page.getByText(/Sampled groups: (4|8|12)$/).waitFor();
    await page.getByText(/^At least .+ left/).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL(/#\/runs\/1$/);

    await goto('/curriculum');
    // Two steps don't meet the rule: the stage says so, and forgetting can be measured.
    await page
      .getByText(/Held-out score 0\.\d+ .*the goal of 0\.9 is not met/)
      .first()
      .waitFor();
    await page
      .getByRole('button', { name: /^Measure \d missing$/ })
      .or(page.getByRole('cell', { name: /0\.\d/ }))
      .first()
      .waitFor();
    await expectAccessible(page);

    await goto('/');
    await page.getByText('The next stage is 10 words').waitFor();
    await page
      .getByRole('table')
      .getByRole('link', { name: /run-0001/ })
      .waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  }, 240_000);
});

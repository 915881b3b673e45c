/** Engines in Settings, by clicks: added, tested, launched, stopped, removed; and what a stage learns of them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadModel } from '../../main/model/load.ts';
import { disposeModel, type Model } from '../../main/model/model.ts';
import { closeWasmBackend } from '../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../main/tensor/wasm/runtime.ts';
import { freePort } from '../services/servers/desk.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { openForTest } from '../tensor/wasm/open.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { openTinkerServer, type TinkerServer } from '../trainer/tinker/tinker-server.ts';
import { expectAccessible, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';

const patient = { timeout: 50_000 };

describe.skipIf(noBrowser)('engines in Settings', () => {
  let app: RunningApp;
  let model: Model;
  let runtime: WasmRuntime;
  let double: TinkerServer;
  beforeAll(async () => {
    const folder = temporaryFolderOfFile();
    disposeModel(await writeTinyModel(folder));
    runtime = await openForTest(1);
    model = loadModel(folder, 64);
    double = await openTinkerServer({ model, key: 's3cret-key' });
    app = await startApp(temporaryFolderOfFile(), ['--allow-launchers']);
  }, 60_000);
  afterAll(async () => {
    await double?.close();
    if (model !== undefined) disposeModel(model);
    if (runtime !== undefined) await closeWasmBackend(runtime);
  });

  async function add(page: Page, name: string, url: string): Promise<void> {
    await page.getByRole('button', { name: 'Add engine' }).click();
    const form = page.getByRole('form', { name: 'Engine', exact: true });
    await form.getByLabel('Name', { exact: true }).fill(name);
    await form.getByLabel('Address').fill(url);
    await form.getByLabel('Model there').fill('tiny');
  }

  it('are tested with a key that no page shows again, and refuse what is not safe', async () => {
    const { page, goto, complaints } = await openPage(app);
    await goto('/settings');
    await add(page, 'double', 'http://10.0.0.5:8000');
    const price = page.getByLabel('Sampling, per million tokens');
    await price.fill('');
    await price.pressSequentially('2.50');
    await expect.poll(() => price.inputValue()).toBe('2.50');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/plain http on another machine/).waitFor();
    await page.getByLabel('Address').fill(double.url);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const engine = page.getByRole('region', { name: 'Engine double' });
    await engine.getByRole('button', { name: 'Test' }).click();
    await engine
      .getByText(/key/i)
      .filter({ hasText: /refused|wrong/i })
      .first()
      .waitFor(patient);
    await page.getByLabel('Key of double').fill('s3cret-key');
    await engine.getByRole('button', { name: 'Save key' }).click();
    await engine.getByText(/, with a key/).waitFor();
    await engine.getByRole('button', { name: 'Test' }).click();
    await engine.getByText(/It works: 4 completions/).waitFor(patient);
    await expect.poll(() => page.getByLabel('Key of double').inputValue()).toBe('');
    await page.reload();
    await engine.getByRole('button', { name: 'Replace key' }).waitFor();
    expect(await page.content()).not.toContain('s3cret-key');
    await expectAccessible(page);
    await engine.getByRole('button', { name: 'Edit' }).click();
    await expect.poll(() => price.inputValue()).toBe('2.5');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await engine.getByRole('button', { name: 'Remove …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await engine.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  }, 120_000);

  it('launch and stop a server by a command, show its log, and are not removed while it is up', async () => {
    const { page, goto, complaints } = await openPage(app);
    const port = await freePort();
    const program = join(app.workspace, 'server.cjs');
    const body = `console.log('ready on ${port}');require('http').createServer((q,r)=>r.end('{}')).listen(${port},'127.0.0.1')`;
    writeFileSync(program, body);
    await goto('/settings');
    await add(page, 'local', `http://127.0.0.1:${port}`);
    await page.getByRole('combobox', { name: 'Its server is started by' }).click();
    await page.getByRole('option', { name: 'a command, here or by ssh' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: 'Command' }).fill(`exec '${process.execPath}' '${program}'`);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('not launched from here yet').waitFor();
    await page.getByRole('button', { name: 'Launch server of local' }).click();
    const state = page.getByRole('status', { name: 'Server of local' });
    await state.getByText(/up, a command on this machine/).waitFor(patient);
    await page.getByRole('button', { name: 'Show log of local' }).click();
    await page.getByRole('log', { name: 'Log of local' }).getByText(`ready on ${port}`).waitFor();
    await page.getByRole('contentinfo').getByRole('link', { name: 'server of local up' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('region', { name: 'Engine local' }).getByRole('button', { name: 'Remove …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page
      .getByRole('dialog')
      .getByText(/may still be up/)
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Stop server of local' }).click();
    await state.getByText(/It was stopped/).waitFor(patient);
    await page
      .getByRole('contentinfo')
      .getByRole('link', { name: /server of local/ })
      .waitFor({ state: 'detached' });
    expect(complaints.filter((line) => !line.includes('422'))).toEqual([]);
  }, 120_000);

  it('are launched from the pre-flight check of a stage, whose form says what they refuse', async () => {
    const { page, goto } = await openPage(app);
    page.setDefaultTimeout(60_000);
    await goto('/curriculum');
    await page.getByRole('button', { name: 'Plan the whole curriculum' }).click();
    await page.getByText(/512 training pairs/).waitFor();
    await page.getByRole('button', { name: 'Adjust', exact: true }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Find a setting').fill('engine');
    await form.getByLabel('engine', { exact: true }).fill('local');
    await form.getByLabel('engine', { exact: true }).press('Tab');
    await form.getByLabel('Find a setting').fill('beta');
    await form.getByLabel('beta', { exact: true }).fill('0.1');
    await form.getByLabel('beta', { exact: true }).press('Tab');
    await form
      .getByText(/reference/)
      .first()
      .waitFor();
    await expect.poll(() => form.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
    await form.getByLabel('beta', { exact: true }).fill('0');
    await form.getByLabel('beta', { exact: true }).press('Tab');
    await form.getByLabel('Find a setting').fill('use_peft');
    await form.getByLabel('use_peft', { exact: true }).setChecked(true, { force: true });
    await form.getByLabel('Find a setting').fill('lora_alpha');
    await form.getByLabel('lora_alpha', { exact: true }).fill('32');
    await form.getByLabel('lora_alpha', { exact: true }).press('Tab');
    // The preset's 0.7 is refused, too: such servers give log-probabilities at 1.
    await form.getByLabel('Find a setting').fill('temperature');
    await form.getByLabel('temperature', { exact: true }).fill('1');
    await form.getByLabel('temperature', { exact: true }).press('Tab');
    await form.getByRole('button', { name: 'Save', exact: true }).click();
    await form.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Start stage' }).click();
    await page
      .getByText(/nothing answers at http/)
      .first()
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Launch server of local' }).click();
    // It answers, and isn't an engine: the check runs again and says so.
    await page
      .getByText(/doesn't speak|protocol/i)
      .first()
      .waitFor();
    await goto('/settings');
    await page.getByRole('button', { name: 'Stop server of local' }).click();
    await page
      .getByRole('status', { name: 'Server of local' })
      .getByText(/It was stopped/)
      .waitFor();
    await page.getByRole('region', { name: 'Engine local' }).getByRole('button', { name: 'Remove …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('region', { name: 'Engine local' }).waitFor({ state: 'detached' });
  }, 180_000);
});

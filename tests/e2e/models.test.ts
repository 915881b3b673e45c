import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disposeModel } from '../../main/model/model.ts';
import { addStage } from '../../main/services/curriculum/edit.ts';
import { openStore } from '../../main/store/index.ts';
import { writeSmall } from '../model/gguf-file.ts';
import { addRun } from '../store/helpers.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyAdapter, writeTinyModel } from '../tiny-model.ts';
import { expectAccessible, openPage, type RunningApp, startApp } from './app.ts';
import { noBrowser } from './browser.ts';
import { modelWorkspace } from './model-workspace.ts';

describe.skipIf(noBrowser)('the Models screen', () => {
  let app: RunningApp;
  let outside = '';
  beforeAll(async () => {
    outside = temporaryFolderOfFile();
    disposeModel(await writeTinyModel(join(outside, 'brought')));
    const pickled = join(outside, 'pickled');
    mkdirSync(pickled);
    writeFileSync(join(pickled, 'config.json'), readFileSync(join(outside, 'brought/config.json')));
    writeFileSync(join(pickled, 'pytorch_model.bin'), '');
    const workspace = await modelWorkspace();
    addCurriculum(workspace);
    await addLostAdapter(workspace);
    app = await startApp(workspace);
  });

  it('lists models and checkpoints with their details', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/models');
    await page.getByRole('button', { name: /^tiny(?!-)/ }).click();
    await page.getByText('1.90 M (1,902,208)').waitFor();
    await page.getByText('LoRA training').waitFor();
    await expectAccessible(page);
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'tiny-reply' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('heading', { name: 'random' }).waitFor();
    await page.getByText('48 GiB', { exact: true }).click();
    await page.getByText(/processed at once in 48\.0 GiB/).waitFor();
    await page.getByRole('button', { name: /^step 20/ }).click();
    await page.getByRole('heading', { name: 'run-0001-10words-grpo · step 20' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows every file and the card before it pushes to the Hub, and says where a token is missing', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/models');
    await page.getByRole('button', { name: /^step 20/ }).click();
    await page.getByRole('button', { name: 'Push to the Hub …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('There is no token of Hugging Face here').waitFor();
    await dialog.getByLabel('Repository').fill('me/model');
    await dialog.getByRole('button', { name: 'Show what is sent' }).click();
    await dialog.getByRole('cell').first().waitFor();
    await dialog.getByText('# model').waitFor();
    await dialog.getByText("The base model's licence isn't known.").waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Push', exact: true }).click();
    await page.getByText('Push to me/model: failed').waitFor();
    await page.getByText(/Make one with write access/).waitFor();
    expect(complaints).toEqual([]);
  });

  it('serves a checkpoint at an address with a key, until it is stopped', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/runs/1');
    const rows = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'Serve', exact: true }) });
    await rows.first().getByRole('button', { name: 'Serve', exact: true }).click();
    const place = page.getByRole('region', { name: 'OpenAI-compatible address' });
    const shown = (label: string) =>
      place.locator('dl > div').filter({ hasText: label }).locator('code').textContent({ timeout: 60_000 });
    const [address, key] = [await shown('Address'), await shown('Key')];
    await place.getByRole('button', { name: 'Copy: key' }).click();
    await expectAccessible(page);
    const models = await fetch(`${address}/models`, { headers: { Authorization: `Bearer ${key}` } });
    expect(await models.json()).toMatchObject({ data: [{ id: await shown('Model') }] });
    await page
      .getByRole('button', { name: /^step 20/ })
      .getByText('served')
      .waitFor();
    await place.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Serve', exact: true }).waitFor();
    await expect(fetch(`${address}/models`)).rejects.toThrow();
    expect(complaints).toEqual([]);
  });

  it('asks before it reads a folder outside, browses it, refuses pickles, and removes a model from the list', async () => {
    const { page, goto } = await openPage(app);
    await goto('/models');
    await page.keyboard.press('i');
    const dialog = page.getByRole('dialog');
    const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click();
    const submit = async (path: string): Promise<void> => {
      await dialog.getByLabel('Folder or GGUF file').fill(path);
      await press('Add');
    };
    await submit('/etc');
    await dialog.getByText('Open this folder to Braid?').waitFor();
    await expectAccessible(page);
    await press('Not now');
    await dialog.getByText('/etc was not opened to Braid').waitFor();
    // Nothing is lost by closing it: a path is quickly entered again.
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('i');
    await submit('some-owner/some-model');
    await dialog.getByText('There is nothing at').waitFor();
    await press('Download it …');
    await expect.poll(() => dialog.getByLabel('Model').inputValue()).toBe('some-owner/some-model');
    await press('Cancel');
    await page.keyboard.press('i');
    await submit(join(outside, 'pickled'));
    await press('Allow');
    await dialog.getByText('a pickle').waitFor();
    await expectAccessible(page);
    await press('Browse …');
    await press('Folder above');
    await press('Allow');
    await dialog.getByRole('button', { name: 'brought model' }).click();
    await expectAccessible(page);
    await press('Use this folder');
    await press('Add');
    await page.getByRole('heading', { name: 'brought' }).waitFor();
    await page.getByRole('button', { name: 'Remove …' }).click();
    await dialog.getByText('Its files stay where they are').waitFor();
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: /^brought/ }).waitFor({ state: 'detached' });
    expect(existsSync(join(outside, 'brought/config.json'))).toBe(true);
  });

  it('exports a checkpoint as a model of the workspace, and says how it answers', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/models?model=checkpoint%3A1');
    await page.getByRole('button', { name: 'Export …' }).click();
    const dialog = page.getByRole('dialog');
    const name = dialog.getByLabel('Name');
    await expect.poll(() => name.inputValue()).toBe('run-0001-10words-grpo-step-20');
    await name.fill('random');
    await dialog.getByRole('button', { name: 'Export', exact: true }).click();
    await dialog.getByText('There is already a model at').waitFor();
    await name.fill('../elsewhere');
    await expect.poll(() => name.getAttribute('aria-invalid')).toBe('true');
    await expect.poll(() => dialog.getByRole('button', { name: 'Export', exact: true }).isDisabled()).toBe(true);
    await name.fill('mine');
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('button', { name: /^mine/ }).waitFor({ timeout: 60_000 });
    await page.getByRole('button', { name: /notice/ }).click({ timeout: 60_000 });
    await page.getByText(/mine \(float16\), loaded again, answers \d+ of 16 prompts/).waitFor();
    expect(readdirSync(join(app.workspace, 'models/mine'))).toContain('model.safetensors');
    expect(complaints).toEqual([]);
  });

  it('marks an adapter whose base model was deleted, in the list and where a model is chosen', async () => {
    const { page, goto } = await openPage(app);
    await goto('/models');
    await page.getByRole('button', { name: /^step 5 final unreadable/ }).click();
    await page.getByText(/the base model ".*lost" doesn't exist/).waitFor();
    await page.getByText("Restore the adapter's base model", { exact: false }).waitFor();
    expect(await page.getByRole('link', { name: 'Try in Playground' }).count()).toBe(0);
    await expectAccessible(page);
    await goto('/compare');
    await page.getByRole('combobox', { name: 'Against' }).click();
    await page.getByRole('option', { name: /adapted.*: unreadable$/ }).waitFor();
  });

  it('names the planned stages that start from a model before it is deleted', async () => {
    const { page, complaints, goto } = await openPage(app);
    const dialog = page.getByRole('dialog');
    const ask = async (ref: string): Promise<void> => {
      await goto(`/models?${new URLSearchParams({ model: ref })}`);
      await page.getByRole('button', { name: 'Delete …' }).click();
    };
    await ask('workspace:random');
    await dialog.getByText("Stages that start from it: From random weights. They won't be able to start.").waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await ask('checkpoint:2');
    await dialog
      .getByText(
        'Stages that would start from it: Second. They will start from an earlier checkpoint, or from the base model.',
      )
      .waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  it('deletes a checkpoint after naming what is deleted', async () => {
    const { page, goto } = await openPage(app);
    await goto('/models?model=checkpoint%3A1');
    await page.getByRole('button', { name: 'Delete …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText("This can't be undone").waitFor();
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('1 deleted').waitFor();
    expect(readdirSync(join(app.workspace, 'outputs/run-0001-10words-grpo'))).toEqual([]);
  });
});

/** A stage that is done, by a run with a checkpoint; one that follows; and one that starts from a model of its own. */
function addCurriculum(workspace: string): void {
  const store = openStore(join(workspace, 'braid.db'));
  const [dataset] = store.datasets.list();
  const shared = { datasetId: dataset?.id ?? null, promotion: null };
  const first = addStage(store, { ...shared, name: 'First' });
  const config = { model: join(workspace, 'models/random') };
  addStage(store, { ...shared, name: 'From random weights', config });
  addStage(store, { ...shared, name: 'Second' });
  const run = addRun(store, { stageId: first });
  store.runs.place(run, 'run-0002-10words-grpo', 'outputs/run-0002-10words-grpo');
  store.runs.setState(run, 'done', null);
  store.stages.setState(first, 'done');
  const checkpoint = 'outputs/run-0002-10words-grpo/checkpoint-30';
  cpSync(join(workspace, 'outputs/run-0001-10words-grpo/checkpoint-20'), join(workspace, checkpoint), {
    recursive: true,
  });
  store.checkpoints.record(run, 30, checkpoint, 'final');
  store.close();
}

/** A checkpoint whose base model is gone. */
async function addLostAdapter(workspace: string): Promise<void> {
  const base = join(workspace, 'models', 'lost');
  const model = await writeTinyModel(base);
  const store = openStore(join(workspace, 'braid.db'));
  const run = addRun(store, { name: 'adapted' });
  writeTinyAdapter(join(workspace, 'outputs/adapted/checkpoint-5'), model, base);
  disposeModel(model);
  store.checkpoints.record(run, 5, 'outputs/adapted/checkpoint-5', 'final');
  store.close();
  rmSync(base, { recursive: true });
}

describe.skipIf(noBrowser)('models from elsewhere', () => {
  let hub: Server;
  let app: RunningApp;
  beforeAll(async () => {
    hub = createServer((_, response) => void response.writeHead(404).end());
    await new Promise<void>((open) => hub.listen(0, '127.0.0.1', open));
    const place = temporaryFolderOfFile();
    const snapshot = join(place, 'hub/models--owner--small/snapshots/0123456');
    const blobs = join(place, 'hub/models--owner--small/blobs');
    disposeModel(await writeTinyModel(blobs));
    mkdirSync(snapshot, { recursive: true });
    // As in the Hub's cache, where each file is a link.
    for (const name of readdirSync(blobs)) symlinkSync(join(blobs, name), join(snapshot, name));
    mkdirSync(join(place, 'llama.cpp'));
    writeSmall(join(place, 'llama.cpp/small-q4_0.gguf'), 'Q4_0');
    writeSmall(join(place, 'llama.cpp/strange.gguf'), 'F16', { 'general.architecture': 'mamba' });
    const elsewhere = {
      HF_HUB_CACHE: join(place, 'hub'),
      LLAMA_CACHE: join(place, 'llama.cpp'),
      HF_ENDPOINT: `http://127.0.0.1:${(hub.address() as AddressInfo).port}`,
    };
    Object.assign(process.env, elsewhere);
    app = await startApp();
    for (const name of Object.keys(elsewhere)) delete process.env[name];
  });
  afterAll(() => void hub.close());

  it('are listed with what Braid can do with them; a GGUF file is converted, a folder used in place', async () => {
    const { page, complaints, goto } = await openPage(app);
    await goto('/models');
    await page.keyboard.press('i');
    const found = page.getByRole('list', { name: 'Models of other programs' });
    await found.getByText(/llama · Q4_0: weights of 4 bits, trained from there · LoRA takes/).waitFor();
    await found.getByText(/can't be trained: its architecture, "mamba",/).waitFor();
    await expect.poll(() => found.getByRole('button').count()).toBe(2);
    await expectAccessible(page);
    await found.getByRole('button', { name: 'Add owner/small' }).click();
    await page.getByRole('heading', { name: 'small', exact: true }).waitFor();
    await page.getByText('model.safetensors', { exact: true }).waitFor();
    await page.keyboard.press('i');
    await found.getByRole('button', { name: 'owner/small is added' }).waitFor();
    await found.getByRole('button', { name: 'Add small-q4_0' }).click();
    await page.getByRole('button', { name: /^small-q4_0/ }).click({ timeout: 60_000 });
    await page.getByRole('heading', { name: 'small-q4_0' }).waitFor();
    await page.getByRole('button', { name: /notice/ }).click();
    await page.getByText(/rounded to 4 bits \(Q4_0\), and training starts from those/).waitFor();
    expect(complaints).toEqual([]);
  });

  it("that can't be downloaded are reported: an invalid name, and the Hub's answer", async () => {
    const { page, goto } = await openPage(app);
    await goto('/models');
    await page.keyboard.press('d');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Model').fill('no such thing');
    await dialog.getByRole('button', { name: 'Download' }).click();
    await dialog.getByText('Expected a Hub model').waitFor();
    await dialog.getByLabel('Model').fill('someone/nothing');
    await dialog.getByRole('button', { name: 'Download' }).click();
    await page.getByText('Download someone/nothing: failed').waitFor();
    await page.getByText('Check the name and the revision.').waitFor();
    await expectAccessible(page);
  });
});

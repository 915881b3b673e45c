import { mkdirSync, promises, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { templateFiles } from '../../../main/model/chat-template.ts';
import { disposeModel } from '../../../main/model/model.ts';
import { downloadModel, parseRepo } from '../../../main/services/models/hub.ts';
import { listModels } from '../../../main/services/models/list.ts';
import { asWindows, refusedAtFirst } from '../../as-windows.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../temporary-folder.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { hubDouble } from './hub-double.ts';
import { jobEnd, modelHost } from './places.ts';

const repo = 'someone/small';
const model = { repo, revision: 'main' };
let files: Record<string, Buffer> = {};

beforeAll(async () => {
  const folder = join(temporaryFolderOfFile(), 'small');
  disposeModel(await writeTinyModel(folder));
  const names = readdirSync(folder);
  files = Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name))]));
});

async function setUp(given: Record<string, Buffer> = files) {
  const host = modelHost();
  const hub = await hubDouble(repo, { ...given, 'training_args.bin': Buffer.from('pickle') });
  const begin = () => downloadModel(host, model, { hubUrl: hub.url });
  const left = () => readdirSync(host.workspace.models);
  return { host, hub, begin, left };
}

describe('downloadModel', () => {
  it('fetches what a model needs, and lists it when it is whole', async () => {
    const { host, hub, begin, left } = await setUp();
    begin();
    expect(listModels(host).filter(({ kind }) => kind === 'workspace')).toEqual([]);
    expect(await jobEnd(host)).toMatchObject({ state: 'done', title: 'Download someone/small' });
    expect(left()).toEqual(['small']);
    for (const [name, content] of Object.entries(files))
      expect(readFileSync(join(host.workspace.models, 'small', name)).equals(content)).toBe(true);
    expect(listModels(host)).toContainEqual(expect.objectContaining({ ref: 'workspace:small', problem: null }));
    expect(hub.asked.at(-1)?.[0]).toBe('model.safetensors');
    expect(errorOf(begin)).toMatchObject({ code: 'MODEL_EXISTS' });
  });

  it('brings the chat templates that lie in a folder of their own', async () => {
    const templates = { 'additional_chat_templates/rag.jinja': Buffer.from('R'), 'other/x.jinja': Buffer.from('X') };
    const { host, begin } = await setUp({ ...files, 'chat_template.jinja': Buffer.from('D'), ...templates });
    begin();
    expect(await jobEnd(host)).toMatchObject({ state: 'done' });
    const folder = join(host.workspace.models, 'small');
    expect([...templateFiles(folder)]).toEqual([
      ['default', 'D'],
      ['rag', 'R'],
    ]);
    expect(readdirSync(folder)).not.toContain('other');
  });

  it('names the model although a virus scanner has it open for a moment', async () => {
    asWindows();
    const { host, begin, left } = await setUp();
    const refused = refusedAtFirst(promises.rename);
    const rename = vi.spyOn(promises, 'rename').mockImplementation(refused);
    onTestFinished(() => rename.mockRestore());
    begin();
    expect(await jobEnd(host)).toMatchObject({ state: 'done' });
    expect(rename).toHaveBeenCalledTimes(2);
    expect(left()).toEqual(['small']);
  });

  it('resumes after a lost connection', async () => {
    const { host, hub, begin, left } = await setUp();
    hub.cutAfter = (files['model.safetensors']?.length ?? 0) - 1000;
    begin();
    expect(await jobEnd(host)).toMatchObject({ state: 'failed', error: { code: 'HUB_UNREACHABLE' } });
    expect(left()).toEqual(['.hub-someone--small-main']);
    hub.cutAfter = Number.POSITIVE_INFINITY;
    hub.asked.length = 0;
    begin();
    expect(await jobEnd(host)).toMatchObject({ state: 'done' });
    expect(hub.asked).toHaveLength(1);
    expect(hub.asked[0]?.[1]).toBeGreaterThan(0);
    expect(listModels(host)).toContainEqual(expect.objectContaining({ ref: 'workspace:small', problem: null }));
  });

  it.each(['folder', 'file'])('writes and deletes nothing behind a link in place of a part: of a %s', async (kind) => {
    const { host, begin } = await setUp();
    const mine = temporaryFolder();
    writeFileSync(join(mine, 'config.json'), 'mine');
    const part = join(host.workspace.models, '.hub-someone--small-main');
    if (kind === 'file') mkdirSync(part);
    symlinkSync(kind === 'file' ? join(mine, 'config.json') : mine, kind === 'file' ? join(part, 'config.json') : part);
    begin();
    expect(await jobEnd(host)).toMatchObject({ state: 'done' });
    expect(readdirSync(mine)).toEqual(['config.json']);
    expect(readFileSync(join(mine, 'config.json'), 'utf8')).toBe('mine');
    expect(listModels(host)).toContainEqual(expect.objectContaining({ ref: 'workspace:small', problem: null }));
  });

  it('leaves nothing when cancelled', async () => {
    const { host, hub, begin, left } = await setUp();
    hub.stall = 'model.safetensors';
    const jobId = begin();
    await vi.waitUntil(() => hub.asked.some(([path]) => path === 'model.safetensors'), { timeout: 60_000 });
    expect(errorOf(begin)).toMatchObject({ code: 'DOWNLOAD_BUSY' });
    host.jobs.cancel(jobId);
    expect(await jobEnd(host)).toMatchObject({ state: 'cancelled' });
    expect(left()).toEqual([]);
  });

  it('keeps what it has when the app is closed', async () => {
    const { host, hub, begin, left } = await setUp();
    hub.stall = 'model.safetensors';
    begin();
    await vi.waitUntil(() => hub.asked.some(([path]) => path === 'model.safetensors'), { timeout: 60_000 });
    await host.jobs.close();
    expect(left()).toEqual(['.hub-someone--small-main']);
  });

  it("deletes a file that doesn't match the Hub's listing", async () => {
    const { host, hub, begin, left } = await setUp();
    const { files: listed } = hub;
    const weights = Buffer.from(files['model.safetensors'] ?? '');
    // After the listing was read, the file is replaced by another of the same size.
    vi.spyOn(hub.asked, 'push').mockImplementationOnce((...asked) => {
      hub.files = { ...listed, 'model.safetensors': weights.fill(1) };
      return hub.asked.push(...asked);
    });
    begin();
    expect(await jobEnd(host)).toMatchObject({ state: 'failed', error: { code: 'HUB_CHANGED' } });
    expect(readdirSync(join(host.workspace.models, left()[0] ?? ''))).not.toContain('model.safetensors');
  });

  it('rejects a model of a foreign architecture before its weights are fetched', async () => {
    const config = Buffer.from(JSON.stringify({ model_type: 'gpt2' }));
    const { host, hub, begin, left } = await setUp({ ...files, 'config.json': config });
    begin();
    expect(await jobEnd(host)).toMatchObject({ state: 'failed', error: { code: 'BAD_MODEL_CONFIG' } });
    expect(hub.asked.map(([path]) => path)).not.toContain('model.safetensors');
    expect(left()).toEqual([]);
  });

  it('rejects a repository with pickles only', async () => {
    const { 'model.safetensors': _, ...rest } = files;
    const { host, begin } = await setUp({ ...rest, 'pytorch_model.bin': Buffer.from('pickle') });
    begin();
    expect(await jobEnd(host)).toMatchObject({
      error: { code: 'HUB_NO_MODEL', message: expect.stringContaining('pytorch_model.bin, a pickle') },
    });
  });

  it.each([
    [401, 'HUB_REFUSED', 'HF_TOKEN'],
    [404, 'HUB_UNKNOWN', 'name'],
    [503, 'HUB_FAILED', 'later'],
  ])('says what %i means', async (status, code, remedy) => {
    const { host, hub, begin } = await setUp();
    hub.status = status;
    begin();
    expect(await jobEnd(host)).toMatchObject({ error: { code, remedy: expect.stringContaining(remedy) } });
  });

  it('names the token that the Hub refused', async () => {
    const { host, hub } = await setUp();
    hub.status = 401;
    downloadModel(host, model, { hubUrl: hub.url, accessToken: 'hf_old', tokenSource: 'environment' });
    expect(await jobEnd(host)).toMatchObject({
      error: { code: 'HUB_REFUSED', message: expect.stringContaining('with the token in HF_TOKEN') },
    });
  });

  it("names a token that isn't the Hub's, and doesn't blame the network", async () => {
    const { host, hub } = await setUp();
    downloadModel(host, model, { hubUrl: hub.url, accessToken: 'sk-other', tokenSource: 'braid' });
    expect(await jobEnd(host)).toMatchObject({
      error: {
        code: 'HUB_REFUSED',
        message: expect.stringContaining("the token kept in Settings isn't one of the Hub"),
      },
    });
  });

  it('says where the network does not allow it, and what to do instead', async () => {
    const host = modelHost();
    downloadModel(host, model, { hubUrl: 'http://127.0.0.1:1' });
    expect(await jobEnd(host)).toMatchObject({
      state: 'failed',
      error: { code: 'HUB_UNREACHABLE', remedy: expect.stringContaining('import the folder') },
    });
  });

  it('rejects what is in the way', () => {
    const host = modelHost();
    mkdirSync(join(host.workspace.models, 'small'));
    expect(errorOf(() => downloadModel(host, model, {}))).toMatchObject({ code: 'MODEL_EXISTS' });
  });
});

describe('parseRepo', () => {
  it.each([
    ['a/b', 'a/b'],
    [' https://huggingface.co/Qwen/Qwen2.5-0.5B ', 'Qwen/Qwen2.5-0.5B'],
    ['https://huggingface.co/a/b/tree/main', 'a/b'],
  ])('reads %s', (text, expected) => expect(parseRepo(text)).toBe(expected));

  it.each(['', 'a', 'a/b/c', '../b', 'a/..', 'a b/c', 'a/con', 'a/b.'])('rejects "%s"', (text) => {
    expect(errorOf(() => parseRepo(text))).toMatchObject({ code: 'BAD_REPO' });
  });
});

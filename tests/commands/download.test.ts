import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { registerDownload, useHubModels } from '../../main/commands/download.ts';
import { withCommonOptions } from '../../main/commands/shared.ts';
import { disposeModel } from '../../main/model/model.ts';
import { openWorkspace } from '../../main/services/workspace/workspace.ts';
import { openStore } from '../../main/store/index.ts';
import { type HubDouble, hubDouble } from '../services/models/hub-double.ts';
import { addRun } from '../store/helpers.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyModel } from '../tiny-model.ts';

const MODEL = 'someone/small';
let files: Record<string, Buffer> = {};
let [workspace, hub]: [string, HubDouble | null] = ['', null];
let asked: string[] = [];

beforeAll(async () => {
  const folder = join(temporaryFolderOfFile(), 'small');
  disposeModel(await writeTinyModel(folder));
  files = Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
});

beforeEach(async () => {
  workspace = join(temporaryFolder(), 'w');
  asked = [];
  hub = await hubDouble(MODEL, files);
  vi.stubEnv('HF_ENDPOINT', hub.url);
  vi.stubEnv('XDG_CONFIG_HOME', temporaryFolder());
  onTestFinished(() => void vi.unstubAllEnvs());
});

/** The --model that a command would see; `answer` is what the person at the terminal says. */
async function modelFor(model: string, answer: boolean): Promise<unknown> {
  const command = withCommonOptions(new Command('evaluate'))
    .option('--model <dir>')
    .action(() => undefined);
  command.hook('preAction', (_, own) =>
    useHubModels(own, async (question) => {
      asked.push(question);
      return answer;
    }),
  );
  await command.parseAsync(['--model', model, '--workspace', workspace, '--quiet'], { from: 'user' });
  return command.opts().model;
}

describe('useHubModels', () => {
  it('downloads a Hub name after asking, and knows it from then on', async () => {
    const folder = join(workspace, 'models', 'small');
    expect(await modelFor(MODEL, true)).toBe(folder);
    expect(asked).toEqual([expect.stringContaining("someone/small isn't a folder here")]);
    expect(readdirSync(folder)).toContain('model.safetensors');
    expect(await modelFor(MODEL, false)).toBe(folder);
    expect(asked).toHaveLength(1);
  });

  it("doesn't take one owner's model for another's of the same name", async () => {
    const folder = await modelFor(MODEL, true);
    expect(JSON.parse(readFileSync(join(String(folder), 'hub-model.json'), 'utf8'))).toEqual({
      repo: MODEL,
      revision: 'main',
    });
    await expect(modelFor('other/small', true)).rejects.toMatchObject({
      code: 'MODEL_EXISTS',
      message: `${folder} holds someone/small, not other/small: both would have the same folder`,
    });
    // What was copied there, or downloaded by an earlier version, says nothing.
    rmSync(join(String(folder), 'hub-model.json'));
    expect(await modelFor('other/small', false)).toBe(folder);
  });

  it('knows Hub names wherever a command takes a model', async () => {
    const folder = join(workspace, 'models', 'small');
    mkdirSync(folder, { recursive: true });
    const command = withCommonOptions(new Command('compare'))
      .option('--baseline <model>')
      .option('--base <dir>')
      .option('--trained <models...>')
      .action(() => undefined);
    command.hook('preAction', (_, own) => useHubModels(own, async () => false));
    const models = ['--baseline', `before=${MODEL}`, '--base', MODEL, '--trained', MODEL, 'tiny'];
    await command.parseAsync([...models, '--workspace', workspace, '--quiet'], { from: 'user' });
    expect(command.opts()).toMatchObject({ baseline: `before=${folder}`, base: folder, trained: [folder, 'tiny'] });
  });

  it('says what to run where nobody wants or can answer', async () => {
    await expect(modelFor(MODEL, false)).rejects.toMatchObject({
      code: 'MODEL_MISSING',
      message: expect.stringContaining('someone/small: there is no such folder'),
    });
  });

  it('names the checkpoints of a run that is called like a model of the Hub', async () => {
    const store = openStore(openWorkspace({ workspace }).database);
    const checkpoint = join(temporaryFolder(), 'checkpoint-5');
    mkdirSync(checkpoint);
    store.checkpoints.record(addRun(store, { name: 'ex/seed_42' }), 5, checkpoint, 'final');
    store.close();
    await expect(modelFor('ex/seed_42', true)).rejects.toMatchObject({
      message: 'Expected a model folder or a checkpoint, got the name of a run, "ex/seed_42"',
      remedy: `Give one of its checkpoints; the newest is ${checkpoint}`,
    });
    expect(asked).toEqual([]);
  });

  it('leaves names of bundled models, folders and absolute paths alone', async () => {
    const there = temporaryFolder();
    mkdirSync(join(there, 'model'));
    for (const model of ['tiny', join(there, 'model'), './some/model']) expect(await modelFor(model, true)).toBe(model);
    expect(asked).toEqual([]);
  });
});

describe('braid download', () => {
  it('keeps what it has at Ctrl-C, and resumes there', async () => {
    if (hub === null) throw new Error('no Hub');
    hub.stall = 'model.safetensors';
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => {
      write.mockRestore();
      process.exitCode = 0;
    });
    const program = new Command();
    registerDownload(program);
    const run = () => program.parseAsync(['download', MODEL, '--workspace', workspace, '--quiet'], { from: 'user' });
    const first = run();
    await vi.waitUntil(() => hub?.asked.some(([path]) => path === 'model.safetensors'), { timeout: 60_000 });
    const part = join(workspace, 'models', '.hub-someone--small-main', 'model.safetensors');
    await vi.waitUntil(() => existsSync(part), { timeout: 60_000 });
    process.emit('SIGINT');
    await first;
    expect(process.exitCode).toBe(130);
    hub.asked.length = 0;
    hub.stall = '';
    await run();
    expect(hub.asked.map(([path]) => path)).toEqual(['model.safetensors']);
    expect(readdirSync(join(workspace, 'models'))).toEqual(['small']);
  });

  it('writes the model into the workspace and reports its folder', async () => {
    const lines: string[] = [];
    const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => lines.push(String(text)) > 0);
    onTestFinished(() => write.mockRestore());
    const program = new Command();
    registerDownload(program);
    await program.parseAsync(['download', MODEL, '--workspace', workspace, '--json', '--quiet'], { from: 'user' });
    const folder = join(workspace, 'models', 'small');
    expect(JSON.parse(lines.join(''))).toEqual({ model: MODEL, revision: 'main', folder });
    expect(readdirSync(folder)).toContain('tokenizer.json');
  });
});

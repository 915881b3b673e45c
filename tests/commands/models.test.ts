import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disposeModel } from '../../main/model/model.ts';
import { buildKernels } from '../../main/tensor/kernels/build.ts';
import { smallTensors, writeSmall } from '../model/gguf-file.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyModel } from '../tiny-model.ts';
import { braid } from './braid.ts';

const folder = temporaryFolderOfFile();
const place = (name: string): string => join(folder, name);
const models = (...args: string[]) => braid(['models', ...args, '--workspace', place('workspace'), '--json']);

beforeAll(() => {
  buildKernels();
  Object.assign(process.env, { OLLAMA_MODELS: place('none'), HF_HUB_CACHE: place('none') });
  process.env.LLAMA_CACHE = place('cache');
  mkdirSync(place('cache'));
  writeSmall(place('cache/small-q4_1.gguf'), 'Q4_1');
});
afterAll(() => {
  for (const name of ['OLLAMA_MODELS', 'HF_HUB_CACHE', 'LLAMA_CACHE']) delete process.env[name];
});

describe('braid models', () => {
  it('converts a GGUF file, which then trains as any folder, and lists it', async () => {
    const run = await models('add', place('cache/small-q4_1.gguf'), '--name', 'mine', '--dtype', 'bfloat16');
    expect(run.code, run.stderr).toBe(0);
    const added = JSON.parse(run.stdout);
    expect(added).toMatchObject({
      folder: place('workspace/models/mine'),
      name: 'mine',
      architecture: 'llama',
      dtype: 'bfloat16',
      stored_as: 'Q4_1',
      note: expect.stringContaining('rounded to 4 bits'),
    });
    expect(readdirSync(added.folder).sort()).toEqual([
      ...['chat_template.jinja', 'config.json', 'generation_config.json'],
      ...['model.safetensors', 'tokenizer.json', 'tokenizer_config.json'],
    ]);
    expect(JSON.parse(readFileSync(join(added.folder, 'config.json'), 'utf8')).dtype).toBe('bfloat16');
    const list = JSON.parse((await models('list')).stdout);
    expect(list.models).toContainEqual(expect.objectContaining({ name: 'mine', architecture: 'llama', problem: null }));
    expect(list.found).toContainEqual(
      expect.objectContaining({ source: 'llama.cpp', name: 'small-q4_1', weights: 'Q4_1', added: false }),
    );
  });

  it('takes a name of the list', async () => {
    const run = await models('add', 'small-q4_1');
    expect(JSON.parse(run.stdout)).toMatchObject({ name: 'small-q4_1', dtype: 'float32' });
  });

  it('uses a folder in place, or copies it under a name', async () => {
    disposeModel(await writeTinyModel(place('tiny')));
    const inPlace = await models('add', place('tiny'));
    expect(JSON.parse(inPlace.stdout)).toMatchObject({ folder: place('tiny'), dtype: 'float32', note: null });
    const copied = await models('add', place('tiny'), '--name', 'copied');
    expect(JSON.parse(copied.stdout).folder).toBe(place('workspace/models/copied'));
    expect(existsSync(place('workspace/models/copied/model.safetensors'))).toBe(true);
    expect((await models('add', place('tiny'), '--dtype', 'float32')).code).not.toBe(0);
  });

  it('leaves nothing behind of a file that turns out to be damaged, and names it', async () => {
    const [first, ...others] = smallTensors('F16');
    const nan = { ...(first ?? { name: '', shape: [] }), data: Buffer.alloc(259 * 512, 0xff) };
    for (const [name, file] of [
      ['nan', writeSmall(place('nan.gguf'), 'F16', {}, [nan, ...others])],
      ['template', writeSmall(place('template.gguf'), 'F16', { 'tokenizer.chat_template': '{% if %}' })],
      ['mine', place('cache/small-q4_1.gguf')],
    ] as const) {
      const run = await models('add', file, '--name', name);
      expect(run.code).not.toBe(0);
      expect(run.stderr).toContain(name === 'mine' ? 'already a model' : file);
    }
    writeFileSync(place('text.gguf'), 'no model');
    expect((await models('add', place('text.gguf'))).stderr).toContain('does not begin with "GGUF"');
    expect(readdirSync(place('workspace/models')).sort()).toEqual(['copied', 'mine', 'small-q4_1']);
  });
});

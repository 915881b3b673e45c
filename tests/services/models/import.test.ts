import { mkdirSync, promises, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { checkSpace } from '../../../main/services/models/check-space.ts';
import { importModel } from '../../../main/services/models/import.ts';
import { importedModels } from '../../../main/services/models/imported-folders.ts';
import { listModels } from '../../../main/services/models/list.ts';
import { resolveModel } from '../../../main/services/models/resolve.ts';
import { asWindows, refusedAtFirst } from '../../as-windows.ts';
import { errorOf } from '../../store/helpers.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { jobEnd, modelHost } from './places.ts';

async function outside(): Promise<string> {
  const folder = join(temporaryFolder(), 'brought');
  disposeModel(await writeTinyModel(folder));
  return folder;
}

describe('importModel', () => {
  it('remembers a folder in place', async () => {
    const host = modelHost();
    const folder = await outside();
    const { ref, jobId } = importModel(host, folder, false);
    expect([ref, jobId]).toEqual([`folder:${folder}`, null]);
    expect(listModels(host)).toContainEqual(expect.objectContaining({ ref, name: 'brought', problem: null }));
    expect(readdirSync(host.workspace.models)).toEqual([]);
  });

  it('copies a folder atomically', async () => {
    const host = modelHost();
    const folder = await outside();
    mkdirSync(join(folder, 'additional_chat_templates'));
    writeFileSync(join(folder, 'additional_chat_templates', 'default.jinja'), 'T');
    const { ref } = importModel(host, folder, true);
    const job = await jobEnd(host);
    const copied = join(host.workspace.models, 'brought', 'additional_chat_templates', 'default.jinja');
    expect(readFileSync(copied, 'utf8')).toBe('T');
    expect(job).toMatchObject({ state: 'done', title: 'Copy brought', progress: { unit: 'MiB' } });
    expect(job?.progress?.done).toBe(job?.progress?.total);
    expect(listModels(host)).toContainEqual(expect.objectContaining({ ref, problem: null }));
    expect(errorOf(() => importModel(host, folder, true))).toMatchObject({ code: 'MODEL_EXISTS' });
  });

  it('names the copy although a virus scanner has it open for a moment', async () => {
    asWindows();
    const host = modelHost();
    const folder = await outside();
    const refused = refusedAtFirst(promises.rename);
    const rename = vi.spyOn(promises, 'rename').mockImplementation(refused);
    onTestFinished(() => rename.mockRestore());
    importModel(host, folder, true);
    expect(await jobEnd(host)).toMatchObject({ state: 'done' });
    expect(rename).toHaveBeenCalledTimes(2);
  });

  it('leaves nothing of a copy that is cancelled', async () => {
    const host = modelHost();
    const { jobId } = importModel(host, await outside(), true);
    host.jobs.cancel(jobId ?? 0);
    expect(await jobEnd(host)).toMatchObject({ state: 'cancelled' });
    expect(readdirSync(host.workspace.models)).toEqual([]);
  });

  it('takes a folder of the workspace as it is', async () => {
    const host = modelHost();
    const folder = join(host.workspace.models, 'own');
    disposeModel(await writeTinyModel(folder));
    expect(importModel(host, folder, false)).toEqual({ ref: 'workspace:own', jobId: null });
  });

  it.each([
    ['F64', 'float32'],
    ['I32', 'Quantised'],
  ])('rejects weights of a type that runs cannot load: %s', async (dtype, remedy) => {
    const host = modelHost();
    const folder = await outside();
    const file = join(folder, 'model.safetensors');
    const bytes = readFileSync(file);
    const length = Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.toString('utf8', 8, 8 + length));
    header['model.norm.weight'].dtype = dtype;
    const text = Buffer.from(JSON.stringify(header));
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(text.length));
    writeFileSync(file, Buffer.concat([size, text, bytes.subarray(8 + length)]));
    expect(errorOf(() => importModel(host, folder, false))).toMatchObject({
      code: 'UNSUPPORTED_DTYPE',
      message: expect.stringContaining('"model.norm.weight"'),
      remedy: expect.stringContaining(remedy),
    });
  });

  it('rejects a folder that is not a model, and pickles', async () => {
    const host = modelHost();
    const folder = join(temporaryFolder(), 'empty');
    mkdirSync(folder);
    expect(errorOf(() => importModel(host, folder, false))).toMatchObject({
      message: expect.stringContaining('config.json'),
    });
    const gguf = join(folder, 'tiny.gguf');
    writeFileSync(gguf, '');
    for (const path of [folder, gguf]) {
      const message = expect.stringContaining('only tiny.gguf, in GGUF');
      expect(errorOf(() => importModel(host, path, false))).toMatchObject({ message });
      expect(errorOf(() => resolveModel(path, host.paths))).toMatchObject({ message });
    }
    rmSync(gguf);
    const config = { model_type: 'qwen2', vocab_size: 8, hidden_size: 8, intermediate_size: 8 };
    const rest = { num_hidden_layers: 1, num_attention_heads: 2 };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, ...rest }));
    writeFileSync(join(folder, 'pytorch_model.bin'), '');
    expect(errorOf(() => importModel(host, folder, true))).toMatchObject({
      message: expect.stringContaining('pickle'),
      remedy: expect.stringContaining('safetensors'),
    });
    writeFileSync(join(folder, 'ft-model-00001-of-00001.safetensors'), '');
    expect(errorOf(() => importModel(host, folder, true))).toMatchObject({
      remedy: expect.stringContaining('Name a single file model.safetensors'),
    });
    expect(host.jobs.list()).toEqual([]);
  });

  it('refuses weights that are not finite, in place and as a copy', async () => {
    const host = modelHost();
    const folder = await outside();
    const file = join(folder, 'model.safetensors');
    const bytes = readFileSync(file);
    bytes.writeUInt32LE(0x7fc00000, bytes.length - 4);
    writeFileSync(file, bytes);
    for (const copy of [false, true]) {
      importModel(host, folder, copy);
      expect(await jobEnd(host)).toMatchObject({
        state: 'failed',
        error: { code: 'FILES_DAMAGED', message: expect.stringContaining('got NaN or infinity') },
      });
      expect(listModels(host).filter(({ name }) => name === 'brought')).toEqual([]);
      expect(readdirSync(host.workspace.models)).toEqual([]);
    }
  });

  it('refuses weights that were cut off', async () => {
    const host = modelHost();
    const folder = await outside();
    truncateSync(join(folder, 'model.safetensors'), 100);
    expect(errorOf(() => importModel(host, folder, false))).toMatchObject({ code: 'FILE_TRUNCATED' });
    expect(importedModels(host.store)).toEqual([]);
  });
});

describe('checkSpace', () => {
  it('rejects what the disk has no room for', () => {
    expect(errorOf(() => checkSpace('/', 10e9, 'a model', () => 1e9))).toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringContaining('954 MiB free'),
    });
    expect(() => checkSpace('/', 1e6, 'a model', () => 1e9)).not.toThrow();
  });
});

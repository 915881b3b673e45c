import { mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { listModels } from '../../../main/services/model-list.ts';
import { checkSpace } from '../../../main/services/models/disk-space.ts';
import { importModel } from '../../../main/services/models/import.ts';
import { errorOf, temporaryFolder } from '../../store/helpers.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { jobEnd, modelHost } from './places.ts';

async function outside(): Promise<string> {
  const folder = join(temporaryFolder(), 'brought');
  disposeModel(await writeTinyModel(folder));
  return folder;
}

describe('importModel', () => {
  it('remembers a folder where it lies', async () => {
    const host = modelHost();
    const folder = await outside();
    const { ref, jobId } = importModel(host, folder, false);
    expect([ref, jobId]).toEqual([`folder:${folder}`, null]);
    expect(listModels(host)).toContainEqual(expect.objectContaining({ ref, name: 'brought', problem: null }));
    expect(readdirSync(host.workspace.models)).toEqual([]);
  });

  it('copies a folder in, whole or not at all', async () => {
    const host = modelHost();
    const folder = await outside();
    const { ref } = importModel(host, folder, true);
    const job = await jobEnd(host);
    expect(job).toMatchObject({ state: 'done', title: 'Copy brought', progress: { unit: 'MiB' } });
    expect(job?.progress?.done).toBe(job?.progress?.total);
    expect(listModels(host)).toContainEqual(expect.objectContaining({ ref, problem: null }));
    expect(errorOf(() => importModel(host, folder, true))).toMatchObject({ code: 'MODEL_EXISTS' });
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

  it('refuses a folder that is no model, and pickles', async () => {
    const host = modelHost();
    const folder = join(temporaryFolder(), 'empty');
    mkdirSync(folder);
    expect(errorOf(() => importModel(host, folder, false))).toMatchObject({
      message: expect.stringContaining('config.json'),
    });
    const config = { model_type: 'qwen2', vocab_size: 8, hidden_size: 8, intermediate_size: 8 };
    const rest = { num_hidden_layers: 1, num_attention_heads: 2 };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, ...rest }));
    writeFileSync(join(folder, 'pytorch_model.bin'), '');
    expect(errorOf(() => importModel(host, folder, true))).toMatchObject({
      message: expect.stringContaining('pickle'),
      remedy: expect.stringContaining('safetensors'),
    });
    expect(host.jobs.list()).toEqual([]);
  });

  it('refuses weights that were cut off', async () => {
    const host = modelHost();
    const folder = await outside();
    truncateSync(join(folder, 'model.safetensors'), 100);
    expect(errorOf(() => importModel(host, folder, false))).toMatchObject({ code: 'FILE_TRUNCATED' });
    expect(host.store.settings.list()).toEqual({});
  });
});

describe('checkSpace', () => {
  it('refuses what the disk has no room for', () => {
    expect(errorOf(() => checkSpace('/', 10e9, 'a model', () => 1e9))).toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringContaining('got 954 MiB'),
    });
    expect(() => checkSpace('/', 1e6, 'a model', () => 1e9)).not.toThrow();
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { inspectModel } from '../../../main/services/models/inspect.ts';
import { modelSizes } from '../../../main/services/models/sizes.ts';
import { addRun, errorOf } from '../../store/helpers.ts';
import { writeTinyAdapter, writeTinyModel } from '../../tiny-model.ts';
import { modelHost } from './places.ts';

async function withModel() {
  const host = modelHost();
  const folder = join(host.workspace.models, 'own');
  const model = await writeTinyModel(folder);
  return { host, folder, model };
}

const machine = { freeBytes: 4 * 2 ** 30, gpu: null, native: false };

describe('inspectModel', () => {
  it('shows what a model is and what it needs', async () => {
    const { host, model } = await withModel();
    disposeModel(model);
    const { facts, memory, files, problem } = inspectModel(host, 'workspace:own', machine);
    expect(problem).toBeNull();
    expect(facts).toMatchObject({
      architecture: 'llama',
      layers: 1,
      width: 16,
      heads: 2,
      keyValueHeads: 1,
      vocabulary: 32,
      context: 256,
      dtypes: ['F32'],
      chatTemplate: false,
      adapter: null,
      base: null,
      tiedEmbeddings: false,
      // Two tables of 32 × 16, q and o of 16 × 16, k and v of 8 × 16, three of 32 × 16, three norms of 16.
      parameters: 2 * 512 + 2 * 256 + 2 * 128 + 3 * 512 + 3 * 16,
    });
    expect(files[0]?.name).toBe('model.safetensors');
    const { generation, lora, full } = memory?.needs ?? { generation: 0, lora: 0, full: 0 };
    expect(lora).toBeGreaterThan(generation);
    expect(full).toBeGreaterThan(generation);
    expect(await modelSizes(host)).toMatchObject({ 'workspace:own': files.reduce((sum, { bytes }) => sum + bytes, 0) });
  });

  it("shows a checkpoint's adapter and base model", async () => {
    const { host, folder, model } = await withModel();
    const run = addRun(host.store);
    const place = join(host.root, 'outputs/run/checkpoint-5');
    writeTinyAdapter(place, model, folder);
    disposeModel(model);
    const id = host.store.checkpoints.record(run, 5, 'outputs/run/checkpoint-5', 'final');
    const { facts } = inspectModel(host, `checkpoint:${id}`, machine);
    expect(facts).toMatchObject({ base: folder, adapter: { rank: 2, alpha: 4, targets: ['q_proj', 'v_proj'] } });
    // Rank 2 on q (16 by 16) and v (8 by 16).
    expect(facts?.adapter?.parameters).toBe(2 * (16 + 16) + 2 * (8 + 16));
  });

  it('says what is wrong with a damaged model, and still lists its files', async () => {
    const { host, folder, model } = await withModel();
    disposeModel(model);
    const weights = join(folder, 'model.safetensors');
    writeFileSync(weights, readFileSync(weights).subarray(0, 2000));
    expect(inspectModel(host, 'workspace:own', machine)).toMatchObject({
      facts: null,
      memory: null,
      problem: { message: expect.stringContaining('model.safetensors') },
      files: expect.arrayContaining([{ name: 'model.safetensors', bytes: 2000 }]),
    });
  });

  it('says which tensor does not fit the configuration', async () => {
    const { host, folder, model } = await withModel();
    disposeModel(model);
    const file = join(folder, 'config.json');
    const config = JSON.parse(readFileSync(file, 'utf8'));
    const problem = (changes: object) => {
      writeFileSync(file, JSON.stringify({ ...config, ...changes }));
      return inspectModel(host, 'workspace:own', machine).problem?.message;
    };
    expect(problem({ num_hidden_layers: 2 })).toMatch(/"model.layers.1.\S+" of shape \[.*\] by config.json, got none/);
    expect(problem({ vocab_size: 33 })).toMatch(/embed_tokens.weight" of shape \[33, 16\].*got \[32, 16\]/);
  });

  it('says that a checkpoint is deleted', () => {
    const host = modelHost();
    const id = host.store.checkpoints.record(addRun(host.store), 5, 'outputs/run/checkpoint-5', 'final');
    expect(inspectModel(host, `checkpoint:${id}`, machine)).toMatchObject({
      facts: null,
      files: [],
      problem: { message: expect.stringContaining('deleted') },
    });
    expect(errorOf(() => inspectModel(host, 'workspace:none', machine))).toMatchObject({ code: 'MODEL_UNKNOWN' });
  });
});

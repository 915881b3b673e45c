import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readJson } from '../../main/model/config.ts';
import { loadModel } from '../../main/model/load.ts';
import { type Adapter, adapterParameters, createAdapter, disposeAdapter } from '../../main/model/lora.ts';
import { disposeModel, type Model } from '../../main/model/model.ts';
import { encodeAdapter, hasAdapter, loadAdapter } from '../../main/model/peft.ts';
import { encodeSafetensors } from '../../main/model/safetensors.ts';
import { openTestBackends } from '../backends.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fault } from './faults.ts';
import { TINY, tinyModel } from './tiny.ts';

const CONFIG = { r: 4, alpha: 8, targetModules: ['q_proj', 'down_proj'], useRslora: true };
const [cpu] = await openTestBackends();

describe('loadAdapter', () => {
  let folder: string;
  let model: Model;
  let adapter: Adapter;
  beforeAll(async () => {
    await cpu?.use();
    model = tinyModel();
    adapter = createAdapter(model, CONFIG, 5);
  });
  afterAll(() => {
    disposeAdapter(adapter);
    disposeModel(model);
  });
  beforeEach(() => {
    folder = temporaryFolder();
    for (const [name, content] of Object.entries(encodeAdapter(adapter, 'base')))
      writeFileSync(join(folder, name), content);
  });

  const configure = (more: object): void => {
    const file = join(folder, 'adapter_config.json');
    writeFileSync(file, JSON.stringify({ ...(readJson(file) as object), ...more }));
  };
  const load = (): Adapter => loadAdapter(folder, model);
  const named = (of: Adapter) => adapterParameters(of).map(({ name, value }) => [name, [...value.dataSync()]]);

  it('reads what was written', () => {
    const read = load();
    expect(read.config).toEqual({ ...CONFIG, targetModules: ['down_proj', 'q_proj'] });
    expect([...read.modules.values()].map(({ scaling }) => scaling)).toEqual(Array(4).fill(8 / Math.sqrt(4)));
    expect(new Map(named(read) as [string, number[]][])).toEqual(new Map(named(adapter) as [string, number[]][]));
    disposeAdapter(read);
  });

  it.each([
    ['a regular expression', { target_modules: '.*(q|down)_proj' }],
    [
      'whole names and ends of names',
      { target_modules: ['self_attn.q_proj', 'model.layers.0.mlp.down_proj', 'layers.1.mlp.down_proj'] },
    ],
    [
      'more than it adapts, with exclusions',
      { target_modules: 'all-linear', exclude_modules: '.*([kvo]|gate|up)_proj' },
    ],
    ['its layers', { layers_to_transform: [0, 1] }],
    ['no list of layers', { layers_to_transform: [] }],
    ['random starts', { init_lora_weights: 'gaussian' }],
    ['what PEFT ignores for linear layers', { fan_in_fan_out: true }],
  ])('understands targets by %s', (_, more) => {
    configure(more);
    const read = load();
    expect([...read.modules.keys()].sort()).toEqual([...adapter.modules.keys()].sort());
    expect(read.config.targetModules).toEqual(['down_proj', 'q_proj']);
    disposeAdapter(read);
  });

  it('scales each module by the first alpha pattern that matches its name, and writes the patterns back', () => {
    configure({ alpha_pattern: { 'layers.1.self_attn.q_proj': 2, '.*[.]q_proj': 6 } });
    const read = load();
    const scales = [...read.modules].map(([name, { scaling }]) => [name.replace('model.layers.', ''), scaling]);
    expect(Object.fromEntries(scales)).toEqual({
      '0.self_attn.q_proj': 3,
      '0.mlp.down_proj': 4,
      '1.self_attn.q_proj': 1,
      '1.mlp.down_proj': 4,
    });
    const written = JSON.parse(encodeAdapter(read, 'base')['adapter_config.json'] as string);
    expect(written.alpha_pattern).toEqual({ 'layers.1.self_attn.q_proj': 2, '.*[.]q_proj': 6 });
    disposeAdapter(read);
  });

  it('says of a Git LFS pointer that it is one', () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n';
    writeFileSync(join(folder, 'adapter_model.safetensors'), pointer);
    expect(fault(load)).toEqual(['GIT_LFS_POINTER', expect.stringContaining('adapter_model.safetensors')]);
    writeFileSync(join(folder, 'adapter_config.json'), pointer);
    expect(fault(load)).toEqual(['GIT_LFS_POINTER', expect.stringContaining('adapter_config.json')]);
  });

  it.each([
    ['DoRA', { use_dora: true }, 'use_dora'],
    ['KaSA', { kasa_config: { beta: 1e-4 } }, 'kasa_config'],
    ['further trained modules', { modules_to_save: ['lm_head'] }, 'lm_head'],
    ['trained biases', { bias: 'all' }, 'bias'],
    ['an initialisation that changed the base', { init_lora_weights: 'pissa' }, 'pissa'],
  ])('refuses %s', (_, more, word) => {
    configure(more);
    const [code, message] = fault(load);
    expect([code, message]).toEqual(['UNSUPPORTED_ADAPTER', expect.stringContaining(word)]);
    expect(message).toContain(folder);
  });

  it('says of an adapter of a model with images as a whole what to do with it', () => {
    configure({ target_modules: '.*language_model.*q_proj' });
    expect(load).toThrow(expect.objectContaining({ remedy: expect.stringContaining('merge_and_unload') }));
    configure({ target_modules: ['q_proj', 'down_proj'] });
    const tensors = encodeSafetensors(
      adapterParameters(adapter).map(({ name, value }) => ({
        name: name.replace('.layers.', '.language_model.layers.'),
        shape: value.shape,
        data: value.dataSync<'float32'>(),
      })),
    );
    writeFileSync(join(folder, 'adapter_model.safetensors'), tensors);
    expect(load).toThrow(expect.objectContaining({ remedy: expect.stringContaining('merge_and_unload') }));
  });

  const manyNames = Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`x${i}`, 1]));
  it.each([
    ['another method', { peft_type: 'IA3' }, 'BAD_ADAPTER_CONFIG', '"peft_type"'],
    ['no targets', { target_modules: null }, 'BAD_ADAPTER_CONFIG', '"target_modules"'],
    ['a regular expression that is none', { target_modules: '(q_proj' }, 'BAD_ADAPTER_CONFIG', 'target_modules'],
    ['targets that the model has not', { target_modules: ['c_attn'] }, 'ADAPTER_MISMATCH', 'c_attn'],
    ['a rank pattern that is none', { rank_pattern: { '(': 2 } }, 'BAD_ADAPTER_CONFIG', 'rank_pattern'],
    ['a rank pattern that never ends', { rank_pattern: { '(.*)*x': 4 } }, 'BAD_ADAPTER_CONFIG', 'more than 1 s'],
    ['targets that never end', { target_modules: '([a-z_.0-9]+)+$x' }, 'BAD_ADAPTER_CONFIG', 'more than 1 s'],
    ['more patterns than layers', { rank_pattern: manyNames }, 'BAD_ADAPTER_CONFIG', 'rank_pattern'],
    ['an alpha beyond float32', { lora_alpha: 1e300 }, 'BAD_ADAPTER_CONFIG', 'lora_alpha'],
    ['another rank of a module', { rank_pattern: { q_proj: 2 } }, 'ADAPTER_MISMATCH', '[2, 32]'],
    ['another rank', { r: 8 }, 'ADAPTER_MISMATCH', '[8, 32]'],
    ['fewer targets than tensors', { target_modules: ['q_proj'] }, 'ADAPTER_MISMATCH', 'down_proj'],
    ['more targets than tensors', { target_modules: ['q_proj', 'down_proj', 'k_proj'] }, 'TENSOR_MISSING', 'k_proj'],
  ])('refuses %s, leaving no tensors', (_, more, code, word) => {
    configure(more);
    const before = tf.memory().numTensors;
    expect(fault(load)).toEqual([code, expect.stringContaining(word)]);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('rejects the adapter of another base model', () => {
    const other = loadModel(join(TINY, '../llama-llama3-oldkeys-f16'), 16);
    expect(fault(() => loadAdapter(folder, other))).toEqual([
      'ADAPTER_MISMATCH',
      expect.stringContaining('base model'),
    ]);
    disposeModel(other);
  });

  it('rejects a folder without weights, and says so of pickles', () => {
    renameSync(join(folder, 'adapter_model.safetensors'), join(folder, 'adapter_model.bin'));
    expect(fault(load)).toEqual(['MODEL_FILE_MISSING', expect.stringContaining('pickle')]);
    rmSync(join(folder, 'adapter_model.bin'));
    expect(fault(load)).toEqual(['MODEL_FILE_MISSING', expect.stringContaining('is missing')]);
  });

  it('rejects cut weights and a cut configuration', () => {
    writeFileSync(join(folder, 'adapter_model.safetensors'), 'short');
    expect(fault(load)[0]).toBe('FILE_TRUNCATED');
    writeFileSync(join(folder, 'adapter_config.json'), '{');
    expect(fault(load)[0]).toBe('BAD_JSON');
    rmSync(join(folder, 'adapter_config.json'));
    expect(fault(load)[0]).toBe('MODEL_FILE_MISSING');
  });

  it('distinguishes an adapter from a model', () => {
    expect([hasAdapter(folder), hasAdapter(TINY)]).toEqual([true, false]);
  });
});

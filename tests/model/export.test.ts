import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readModelConfig } from '../../main/model/config.ts';
import { encodeModel, encodeModelConfig, jsonText, modelFiles, tensorPieces } from '../../main/model/export.ts';
import { loadModel } from '../../main/model/load.ts';
import { disposeModel, modelParameters } from '../../main/model/model.ts';
import { readConfigToCopy } from '../../main/model/read-json.ts';
import { openSafetensors } from '../../main/model/safetensors.ts';
import { openTestBackends } from '../backends.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { TINY } from './tiny.ts';

const NAMES = [
  'llama-untied-f32',
  'llama-tied-llama3-bf16-sharded',
  'llama-attention-bias-f32-sharded',
  'qwen2-tied-f32',
  'qwen3-untied-f16-sharded',
];
const fixture = (name: string): string => join(TINY, '..', name);
const [cpu] = await openTestBackends();

describe('encodeModel', () => {
  beforeAll(async () => cpu?.use());
  let folder: string;
  beforeEach(() => {
    folder = temporaryFolder();
  });

  it.each(NAMES)('writes %s so that it reads back the same', (name) => {
    const model = loadModel(fixture(name), 16);
    mkdirSync(folder, { recursive: true });
    for (const [file, content] of Object.entries(encodeModel(model))) writeFileSync(join(folder, file), content);
    const again = loadModel(folder, 16);
    expect(again.config).toEqual(model.config);
    const numbers = (of: typeof model) => modelParameters(of).map((p) => [p.name, [...p.value.dataSync()]]);
    expect(numbers(again)).toEqual(numbers(model));
    disposeModel(model);
    disposeModel(again);
  });

  // In files, LFM3's gates have another name than in transformers.
  it.each(['llama-untied-f32', 'qwen2-tied-f32', 'qwen3-tied-f32', '../families/lfm3'])(
    'writes the bytes that transformers wrote: %s',
    (name) => {
      const model = loadModel(fixture(name), 16);
      const baseConfig = readConfigToCopy(fixture(name));
      const ours = encodeModel(model, { baseConfig })['model.safetensors'] as Uint8Array;
      expect(readFileSync(join(fixture(name), 'model.safetensors')).equals(ours)).toBe(true);
      disposeModel(model);
    },
  );

  it('halves the file as float16, and keeps float16 weights exactly', () => {
    const model = loadModel(fixture('llama-llama3-oldkeys-f16'), 16);
    const theirs = openSafetensors(join(fixture('llama-llama3-oldkeys-f16'), 'model.safetensors'));
    writeFileSync(join(folder, 'm'), encodeModel(model, { type: 'F16' })['model.safetensors']);
    const ours = openSafetensors(join(folder, 'm'));
    expect(ours.entries).toEqual(theirs.entries);
    for (const name of ours.entries.keys()) expect([...ours.read(name)]).toEqual([...theirs.read(name)]);
    ours.close();
    theirs.close();
    disposeModel(model);
  });
});

describe('modelFiles', () => {
  it('gives the same bytes, a tensor at a time', async () => {
    await cpu?.use();
    const model = loadModel(TINY, 16);
    const whole = encodeModel(model)['model.safetensors'] as Uint8Array;
    const pieces = [...modelFiles(model)['model.safetensors']];
    expect(pieces.length).toBe(1 + modelParameters(model).length);
    expect(Buffer.concat(pieces).equals(whole)).toBe(true);
    disposeModel(model);
  });

  it('reads a large matrix in pieces', async () => {
    await cpu?.use();
    const matrix = tf.reshape(tf.range(0, 3 * 2 ** 21), [3, 2 ** 21]);
    const before = tf.memory().numTensors;
    const pieces = [...tensorPieces(matrix)];
    expect(pieces.map(({ length }) => length)).toEqual([2 ** 22, 2 ** 21]);
    expect(pieces[1]?.[1]).toBe(2 ** 22 + 1);
    expect(tf.memory().numTensors).toBe(before);
    matrix.dispose();
  });
});

describe('encodeModelConfig', () => {
  it("copies the model's other fields without contradicting them", () => {
    const base = readConfigToCopy(fixture('llama-tied-llama3-bf16-sharded'));
    const config = readModelConfig(fixture('llama-tied-llama3-bf16-sharded'));
    const written = JSON.parse(encodeModelConfig(config, 'F16', { ...base, torch_dtype: 'bfloat16' })) as Record<
      string,
      unknown
    >;
    expect(written).toMatchObject({ bos_token_id: 1, dtype: 'float16', rope_theta: 1000, attention_dropout: 0 });
    expect(written).not.toHaveProperty('torch_dtype');
    expect(written).not.toHaveProperty('rope_parameters');
  });

  it.each(['gemma4', 'granite4-mamba', 'lfm3'])(
    'spells the numbers of %s as transformers, which refuses others',
    (name) => {
      const folder = fixture(`../families/${name}`);
      const written = encodeModelConfig(readModelConfig(folder), 'F32', readConfigToCopy(folder));
      expect(written).toBe(readFileSync(join(folder, 'config.json'), 'utf8'));
    },
  );
});

describe('jsonText', () => {
  it('sorts keys and indents by two', () => {
    expect(jsonText({ b: 1, a: [1] })).toBe('{\n  "a": [\n    1\n  ],\n  "b": 1\n}\n');
  });
});

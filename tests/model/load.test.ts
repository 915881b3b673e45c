import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readModelConfig } from '../../main/model/config.ts';
import { loadModel, randomModel } from '../../main/model/load.ts';
import { disposeModel, layerParameters, modelParameters, parameterShapes } from '../../main/model/model.ts';
import { parameterCount } from '../../main/model/parameter.ts';
import { encodeSafetensors, openSafetensors } from '../../main/model/safetensors.ts';
import { readModelFacts } from '../../main/trainer/memory/model-facts.ts';
import { openTestBackends } from '../backends.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { fault } from './faults.ts';
import { TINY } from './tiny.ts';

const SHARDED = fileURLToPath(new URL('../parity/fixtures/models/qwen3-untied-f16-sharded', import.meta.url));
const [cpu] = await openTestBackends();

describe('loadModel', () => {
  beforeAll(async () => cpu?.use());
  let folder: string;
  beforeEach(() => {
    folder = join(temporaryFolderOfFile(), 'model');
  });

  const copyOf = (source: string): void => cpSync(source, folder, { recursive: true });
  const load = () => loadModel(folder, 64);
  /** Rewrites the weights; null drops a tensor. */
  const change = (name: string, to: { shape: number[]; size: number } | null): void => {
    const file = join(folder, 'model.safetensors');
    const opened = openSafetensors(file);
    const tensors = [...opened.entries].map(([key, entry]) => ({
      name: key,
      shape: entry.shape,
      data: opened.read(key),
    }));
    opened.close();
    const changed = tensors.flatMap((tensor) => {
      if (tensor.name !== name) return [tensor];
      return to === null ? [] : [{ name, shape: to.shape, data: new Float32Array(to.size) }];
    });
    writeFileSync(file, encodeSafetensors(changed));
  };
  const changeIndex = (edit: (map: Record<string, string>) => unknown): void => {
    const file = join(folder, 'model.safetensors.index.json');
    const index = JSON.parse(readFileSync(file, 'utf8')) as { weight_map: Record<string, string> };
    writeFileSync(file, JSON.stringify(edit(index.weight_map)));
  };

  it('reads every tensor that the shape asks for, and frees them all', () => {
    const before = tf.memory().numTensors;
    const model = loadModel(TINY, 64);
    const shapes = parameterShapes(model.config);
    expect(modelParameters(model).map(({ name, value }) => [name, value.shape])).toEqual([...shapes]);
    expect(model.maxLength).toBe(64);
    disposeModel(model);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('uses the embedding as the head of a tied model, counting it once', () => {
    const model = loadModel(join(TINY, '../qwen2-tied-f32'), 16);
    expect(model.head).toBe(model.embedding);
    const sizes = [...parameterShapes(model.config).values()].map((shape) => shape.reduce((a, b) => a * b, 1));
    expect(parameterCount(modelParameters(model))).toBe(sizes.reduce((a, b) => a + b));
    disposeModel(model);
  });

  const HEAD = 'lm_head.weight';
  const EMBEDDING = 'model.embed_tokens.weight';
  /** Writes the fixture with other names of its tensors (null: left out), and settings of its config.json. */
  const rename = (nameOf: (name: string) => string | null, settings: object = {}): void => {
    copyOf(TINY);
    const opened = openSafetensors(join(folder, 'model.safetensors'));
    const tensors = [...opened.entries].flatMap(([key, { shape }]) => {
      const name = nameOf(key);
      return name === null ? [] : [{ name, shape, data: opened.read(key) }];
    });
    opened.close();
    writeFileSync(join(folder, 'model.safetensors'), encodeSafetensors(tensors));
    writeFileSync(join(folder, 'tokenizer.json'), '{}');
    const config = join(folder, 'config.json');
    writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, 'utf8')), ...settings }));
  };
  const TIED = { tie_word_embeddings: true };
  const bare = (name: string): string => name.replace(/^model\./, '');

  // As AutoModelForCausalLM of transformers 5.20 loads such folders.
  it('uses a head of its own where config.json says that it is tied', () => {
    rename((name) => name, TIED);
    const [model, own] = [load(), loadModel(TINY, 64)];
    expect(model.config.tieWordEmbeddings).toBe(false);
    expect(model.head.value.dataSync()).toEqual(own.head.value.dataSync());
    disposeModel(own);
    disposeModel(model);
    const embedding = openSafetensors(join(TINY, 'model.safetensors'));
    const tensors = [HEAD, EMBEDDING].map((name) => ({ name, shape: [96, 32], data: embedding.read(EMBEDDING) }));
    embedding.close();
    writeFileSync(join(folder, 'model.safetensors'), encodeSafetensors(tensors));
    expect(readModelConfig(folder).tieWordEmbeddings).toBe(true);
  });

  it.each<[string, (name: string) => string | null, object]>([
    ['without the prefix of the model', bare, {}],
    ['with one prefix more', (name) => `model.${name}`, {}],
    ['with a tied embedding stored as the head', (name) => (name === EMBEDDING ? null : name), TIED],
    ['without both', (name) => (name === EMBEDDING ? null : bare(name)), TIED],
  ])('finds weights %s', (_, nameOf, settings) => {
    rename(nameOf, settings);
    const [model, own] = [load(), loadModel(TINY, 64)];
    for (const [i, { value }] of own.layers.flatMap(layerParameters).entries())
      expect(model.layers.flatMap(layerParameters)[i]?.value.dataSync()).toEqual(value.dataSync());
    expect(model.head.value.dataSync()).toEqual(own.head.value.dataSync());
    expect(() => readModelFacts({ base: folder, adapter: null, tokenizer: folder })).not.toThrow();
    disposeModel(own);
    disposeModel(model);
  });

  it.each<[string, (name: string) => string | null, string]>([
    ['names of a larger model', (name) => `language_model.${name}`, 'It has "language_model.'],
    ['no head', (name) => (name === HEAD ? null : name), 'set "tie_word_embeddings" to true'],
  ])('says what to do about %s', (_, nameOf, remedy) => {
    rename(nameOf);
    for (const call of [load, () => readModelFacts({ base: folder, adapter: null, tokenizer: folder })])
      expect(call).toThrow(
        expect.objectContaining({ code: 'TENSOR_MISSING', remedy: expect.stringContaining(remedy) }),
      );
  });

  it('names a file of weights that transformers does not look for', () => {
    copyOf(TINY);
    renameSync(join(folder, 'model.safetensors'), join(folder, 'weights.safetensors'));
    expect(fault(load)).toEqual(['MODEL_FILE_MISSING', expect.stringContaining('only weights.safetensors')]);
  });

  it('rejects a folder that is not there, and a file', () => {
    expect(fault(load)).toEqual(['MODEL_MISSING', expect.stringContaining(folder)]);
    expect(fault(() => loadModel(join(TINY, 'config.json'), 8))[0]).toBe('MODEL_MISSING');
  });

  it('rejects more tokens than the model has positions', () => {
    expect(fault(() => loadModel(TINY, 513))).toEqual(['CONTEXT_TOO_SHORT', expect.stringContaining('512')]);
  });

  it('rejects a missing tensor, and leaves no tensors behind', () => {
    copyOf(TINY);
    change('model.norm.weight', null);
    const before = tf.memory().numTensors;
    expect(fault(load)).toEqual(['TENSOR_MISSING', expect.stringContaining('"model.norm.weight"')]);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('rejects a tensor of another shape', () => {
    copyOf(TINY);
    change('lm_head.weight', { shape: [95, 32], size: 95 * 32 });
    const [code, message] = fault(load);
    expect(code).toBe('BAD_SHAPE');
    expect(message).toContain('expected "lm_head.weight" of shape [96, 32] by config.json, got [95, 32]');
  });

  it('rejects a folder without weights, and says so of pickles and GGUF', () => {
    copyOf(TINY);
    renameSync(join(folder, 'model.safetensors'), join(folder, 'pytorch_model.bin'));
    expect(fault(load)).toEqual(['MODEL_FILE_MISSING', expect.stringContaining('pickle')]);
    renameSync(join(folder, 'pytorch_model.bin'), join(folder, 'tiny.Q4_K_M.gguf'));
    expect(fault(load)).toEqual(['MODEL_FILE_MISSING', expect.stringContaining('only tiny.Q4_K_M.gguf, in GGUF')]);
    rmSync(join(folder, 'tiny.Q4_K_M.gguf'));
    expect(fault(load)).toEqual(['MODEL_FILE_MISSING', expect.stringContaining('neither')]);
  });

  it('rejects a missing shard', () => {
    copyOf(SHARDED);
    rmSync(join(folder, 'model-00002-of-00004.safetensors'));
    const [code, message] = fault(load);
    expect([code, message]).toEqual(['MODEL_FILE_MISSING', expect.stringContaining('model-00002-of-00004')]);
  });

  it.each([
    ['no map', () => ({ weights: {} }), 'BAD_MODEL_INDEX', 'weight_map'],
    [
      'a missing entry',
      (map: object) => ({ weight_map: { ...map, 'lm_head.weight': undefined } }),
      'TENSOR_MISSING',
      'lm_head',
    ],
    [
      'a file elsewhere',
      (map: object) => ({ weight_map: { ...map, 'lm_head.weight': '../x' } }),
      'BAD_MODEL_INDEX',
      '../x',
    ],
    [
      'a file in no folder of any system',
      (map: object) => ({ weight_map: { ...map, 'lm_head.weight': '..\\x' } }),
      'BAD_MODEL_INDEX',
      'got "..\\\\x"',
    ],
    [
      'the folder above',
      (map: object) => ({ weight_map: { ...map, 'lm_head.weight': '..' } }),
      'BAD_MODEL_INDEX',
      'got ".."',
    ],
    [
      'the wrong shard',
      (map: object) => ({ weight_map: { ...map, 'model.norm.weight': 'model-00001-of-00004.safetensors' } }),
      'TENSOR_MISSING',
      'model-00001-of-00004',
    ],
  ])('refuses an index with %s', (_, edit, code, named) => {
    copyOf(SHARDED);
    changeIndex(edit);
    expect(fault(load)).toEqual([code, expect.stringContaining(named)]);
  });
});

describe('randomModel', () => {
  beforeAll(async () => cpu?.use());
  const weights = (seed: number): number[] => {
    const model = randomModel(readModelConfig(TINY), seed, 16);
    const values = [...model.embedding.value.dataSync(), ...(model.layers[1]?.down.weight.value.dataSync() ?? [])];
    disposeModel(model);
    return values;
  };

  it('is determined by its seed', () => {
    expect(weights(1)).toEqual(weights(1));
    expect(weights(1)).not.toEqual(weights(2));
  });

  it('draws weights of deviation 0.02 around 0', () => {
    const values = weights(3);
    const mean = values.reduce((a, b) => a + b) / values.length;
    const deviation = Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / values.length);
    expect(Math.abs(mean)).toBeLessThan(0.001);
    expect(deviation).toBeGreaterThan(0.019);
    expect(deviation).toBeLessThan(0.021);
  });
});

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAdapter, type LoraConfig } from '../../main/model/lora.ts';
import { openMergedModel } from '../../main/model/merge.ts';
import { disposeModel, type Model, modelParameters } from '../../main/model/model.ts';
import { encodeAdapter } from '../../main/model/peft.ts';
import { temporaryFolderOfFile } from '../temporary-folder.ts';
import { writeTinyModel } from '../tiny-model.ts';

const folder = temporaryFolderOfFile();
const base = join(folder, 'base');
let model: Model;
beforeAll(async () => {
  model = await writeTinyModel(base);
});
afterAll(() => disposeModel(model));

/** Writes an adapter with a B that isn't 0, and returns what it adds to each module's weight. */
function writeAdapter(name: string, config: LoraConfig): ReadonlyMap<string, tf.Tensor> {
  const adapter = createAdapter(model, config, 1);
  const added = new Map<string, tf.Tensor>();
  for (const [module, { a, b, scaling }] of adapter.modules) {
    b.value = tf.randomNormal(b.value.shape, 0, 0.5, 'float32', 3) as tf.Tensor2D;
    added.set(`${module}.weight`, tf.mul(tf.matMul(b.value, a.value), scaling));
  }
  mkdirSync(join(folder, name));
  for (const [file, content] of Object.entries(encodeAdapter(adapter, base)))
    writeFileSync(join(folder, name, file), content);
  return added;
}

function values(pieces: Iterable<Float32Array>): number[] {
  return [...pieces].flatMap((piece) => [...piece]);
}

describe('openMergedModel', () => {
  it("gives the base model's own weights without an adapter", () => {
    const merged = openMergedModel(base, null);
    const expected = modelParameters(model);
    expect(merged.tensors.map(({ name }) => name)).toEqual(expected.map(({ name }) => name));
    for (const [i, { pieces }] of merged.tensors.entries())
      expect(values(pieces())).toEqual([...(expected[i]?.value.dataSync() ?? [])]);
    merged.close();
  });

  it.each([
    ['alpha / r', { r: 2, alpha: 8, targetModules: ['q_proj', 'down_proj'], useRslora: false }],
    ['alpha / sqrt(r)', { r: 4, alpha: 8, targetModules: ['k_proj', 'o_proj', 'gate_proj'], useRslora: true }],
    [
      'patterns',
      {
        r: 4,
        alpha: 8,
        targetModules: ['q_proj', 'up_proj'],
        useRslora: false,
        rankPattern: { q_proj: 2 },
        alphaPattern: { 'layers.0.*up_proj': 3 },
      },
    ],
  ] as const)('adds B·A times %s to the adapted modules alone', (name, config) => {
    const added = writeAdapter(name.replaceAll('/', ''), config);
    const merged = openMergedModel(base, join(folder, name.replaceAll('/', '')));
    for (const { name: tensor, pieces } of merged.tensors) {
      const before = modelParameters(model).find((parameter) => parameter.name === tensor)?.value as tf.Tensor;
      const delta = added.get(tensor);
      const expected = (delta === undefined ? before : tf.add(before, delta)).dataSync();
      const got = values(pieces());
      const worst = Math.max(...got.map((value, i) => Math.abs(value - (expected[i] as number))));
      expect([tensor, got.length, worst < 2e-6]).toEqual([tensor, expected.length, true]);
      if (delta !== undefined) expect(got).not.toEqual([...before.dataSync()]);
    }
    merged.close();
  });

  it('refuses an adapter with tensors beside those that it is said to have', () => {
    writeAdapter('more', { r: 2, alpha: 4, targetModules: ['q_proj', 'v_proj'], useRslora: false });
    const file = join(folder, 'more/adapter_config.json');
    const config: object = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...config, target_modules: ['q_proj'] }));
    expect(() => openMergedModel(base, join(folder, 'more'))).toThrow(
      /tensors of the adapted layers only, got ".*v_proj.lora_[AB].weight" and 1 more/,
    );
  });

  it('refuses an adapter of a model with other shapes', async () => {
    writeAdapter('fits', { r: 2, alpha: 4, targetModules: ['q_proj'], useRslora: false });
    const other = join(folder, 'other');
    disposeModel(await writeTinyModel(other, { hiddenSize: 32 }));
    expect(() => openMergedModel(other, join(folder, 'fits'))).toThrow(/expected ".*lora_A.weight" of shape \[2, 32\]/);
  });
});

import '@tensorflow/tfjs-backend-cpu';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadModel } from '../../../main/model/load.ts';
import { disposeModel, modelParameters } from '../../../main/model/model.ts';
import { encodeSafetensors } from '../../../main/model/safetensors.ts';
import type { Policy } from '../../../main/trainer/policy/policy.ts';
import { restoreReference, syncReference, syncsAfter } from '../../../main/trainer/policy/reference.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { writeTinyModel } from '../../tiny-model.ts';

const folder = temporaryFolderOfFile();
beforeAll(async () => {
  disposeModel(await writeTinyModel(folder));
});

const open = (): Policy => ({ model: loadModel(folder, 64), adapter: null });
const fill = ({ model }: Policy, number: number): void => {
  for (const parameter of modelParameters(model)) {
    parameter.value.dispose();
    parameter.value = tf.fill([...parameter.value.shape], number);
  }
};
const values = ({ model }: Policy): number[] => modelParameters(model).flatMap(({ value }) => [...value.dataSync()]);

describe('syncsAfter', () => {
  it('is every so many steps, and never without the setting', () => {
    const config = { sync_ref_model: true, ref_model_sync_steps: 3, ref_model_mixup_alpha: 0.5 };
    expect([1, 2, 3, 4, 5, 6].filter((step) => syncsAfter(step, config))).toEqual([3, 6]);
    expect(syncsAfter(3, { ...config, sync_ref_model: false })).toBe(false);
  });
});

describe('syncReference', () => {
  it('moves every weight of the reference by alpha towards the policy, and leaves the policy and no tensor behind', () => {
    const [reference, policy] = [open(), open()];
    fill(reference, 1);
    fill(policy, 3);
    const before = tf.memory().numTensors;
    syncReference(reference, policy, 0.25);
    expect(tf.memory().numTensors).toBe(before);
    // 0.25 x 3 + 0.75 x 1
    expect(new Set(values(reference))).toEqual(new Set([1.5]));
    expect(new Set(values(policy))).toEqual(new Set([3]));
    syncReference(reference, policy, 1);
    expect(new Set(values(reference))).toEqual(new Set([3]));
    disposeModel(reference.model);
    disposeModel(policy.model);
  });
});

describe('restoreReference', () => {
  it('rejects a file without the weights of the model, or with those of another', () => {
    const reference = open();
    const [first] = modelParameters(reference.model);
    const file = join(folder, 'other.safetensors');
    const name = first?.name ?? '';
    const shape = [...(first?.value.shape ?? [])];
    const expected = `expected "${name}" of [${shape.join(', ')}]`;
    writeFileSync(file, encodeSafetensors([{ name: 'x', shape: [1], data: Float32Array.of(1) }]));
    expect(() => restoreReference(reference, file, true)).toThrow(`${expected}, got none`);
    writeFileSync(file, encodeSafetensors([{ name, shape: [1], data: Float32Array.of(1) }]));
    expect(() => restoreReference(reference, file, true)).toThrow(`${expected}, got [1]`);
    rmSync(file);
    disposeModel(reference.model);
  });
});

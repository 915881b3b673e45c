import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import { closeWasmBackend } from '../../../main/tensor/wasm/boot.ts';
import type { WasmRuntime } from '../../../main/tensor/wasm/runtime.ts';
import { deviceBudget } from '../../../main/trainer/memory/budget.ts';
import { decideForUse, recordedDecision } from '../../../main/trainer/memory/decide.ts';
import { openPolicies } from '../../../main/trainer/memory/open-policy.ts';
import { temporaryFolderOfFile } from '../../temporary-folder.ts';
import { openForTest } from '../../tensor/wasm/open.ts';
import { writeTinyAdapter, writeTinyModel } from '../../tiny-model.ts';

const folder = temporaryFolderOfFile();
const [base, first, second] = ['base', 'first', 'second'].map((name) => join(folder, name)) as [string, string, string];
let runtime: WasmRuntime;
beforeAll(async () => {
  const model = await writeTinyModel(base);
  for (const adapter of [first, second]) writeTinyAdapter(adapter, model, base);
  disposeModel(model);
  runtime = await openForTest(1);
});
afterAll(() => closeWasmBackend(runtime));

describe('openPolicies', () => {
  it('loads a base once for all of its adapters, and frees everything', () => {
    const before = tf.memory().numTensors;
    const all = [null, first, second].map((adapter) => ({ base, adapter, tokenizer: base }));
    const opener = openPolicies(all);
    const models = all.map((parts) => {
      const { policy, activationMb, dispose } = opener.open(parts, 20);
      expect(policy.adapter === null).toBe(parts.adapter === null);
      expect(activationMb).toBeGreaterThan(0);
      dispose();
      return policy.model;
    });
    expect(new Set(models).size).toBe(1);
    opener.close();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('reads the precision that a checkpoint was trained in', () => {
    expect(recordedDecision(first)).toEqual({});
    writeFileSync(join(first, 'rng.json'), JSON.stringify({ memory: { precision: 'bfloat16', activationMb: 512 } }));
    expect(recordedDecision(first)).toEqual({ precision: 'bfloat16', activationMb: 512 });
    const opener = openPolicies([{ base, adapter: first, tokenizer: base }]);
    const { policy } = opener.open({ base, adapter: null, tokenizer: base }, 20);
    const { config } = policy.model;
    expect(decideForUse(config, recordedDecision(first), deviceBudget('native', 2 ** 34)).precision).toBe('bfloat16');
    expect(decideForUse(config, recordedDecision(first), deviceBudget('wasm', 2 ** 34)).precision).toBe('bfloat16');
    // A GPU's "stored" are the numbers of float32.
    expect(decideForUse(config, { precision: 'stored' }, deviceBudget('wasm', 2 ** 34)).precision).toBe('float32');
    opener.close();
  });
});

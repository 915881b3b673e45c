/**
 * Writes our adapters and merged models, with the log-probabilities that we give them, for `lora.py --check`, and under
 * families/ those of the other architectures, for `families.py --check`.
 * Run as: node tests/parity/write-adapters.ts FOLDER
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as tf from '@tensorflow/tfjs-core';
import { encodeModel, encodeModelConfig } from '../../main/model/export.ts';
import { loadModel } from '../../main/model/load.ts';
import { type Adapter, createAdapter } from '../../main/model/lora.ts';
import { openMergedModel } from '../../main/model/merge.ts';
import type { Model } from '../../main/model/model.ts';
import { encodeAdapter, loadAdapter } from '../../main/model/peft.ts';
import { readConfigToCopy } from '../../main/model/read-json.ts';
import { safetensorsPieces } from '../../main/model/safetensors.ts';
import { scoreCompletions } from '../../main/model/score.ts';
import { randomStream } from '../../main/random.ts';
import '@tensorflow/tfjs-backend-cpu';
import { mergeAdapter } from './merge-adapter.ts';

const CASES = [
  { base: 'llama-untied-f32', r: 4, alpha: 8, useRslora: false, targetModules: ['q_proj', 'up_proj', 'down_proj'] },
  { base: 'llama-tied-llama3-bf16-sharded', r: 8, alpha: 4, useRslora: true, targetModules: ['v_proj', 'gate_proj'] },
  { base: 'llama-llama3-oldkeys-f16', r: 2, alpha: 32, useRslora: true, targetModules: ['model.layers.1.mlp.up_proj'] },
  { base: 'llama-attention-bias-f32-sharded', r: 4, alpha: 8, useRslora: false, targetModules: ['o_proj', 'v_proj'] },
  { base: 'qwen2-tied-f32', r: 3, alpha: 8, useRslora: false, targetModules: ['k_proj', 'o_proj'] },
  { base: 'qwen3-untied-f16-sharded', r: 16, alpha: 32, useRslora: false, targetModules: ['q_proj', 'o_proj'] },
];
const prompts = [[5, 9, 33], [7], [60, 61, 62, 63, 64, 65, 66, 67]];
const completions = [[8, 9], [12, 80, 44, 30], [3]];

function moveB(adapter: Adapter): void {
  const stream = randomStream(7);
  for (const { b } of adapter.modules.values()) {
    b.value.dispose();
    b.value = tf.tensor2d(
      Float32Array.from({ length: b.value.size }, () => stream.next() - 0.5),
      b.value.shape,
    );
  }
}

function score(model: Model, adapter: Adapter | null): number[][] {
  const items = prompts.map((promptIds, i) => ({ promptIds, completionIds: completions[i] ?? [] }));
  return scoreCompletions(model, adapter, items).map((row) => [...row]);
}

function write(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}

await tf.setBackend('cpu');
const target = process.argv[2] ?? 'out/adapters';
const written = CASES.flatMap(({ base, ...config }) => {
  const folder = fileURLToPath(new URL(`./fixtures/models/${base}`, import.meta.url));
  const model = loadModel(folder, 64);
  const adapter = createAdapter(model, config, 3);
  moveB(adapter);
  write(join(target, `${base}-adapter`), encodeAdapter(adapter, base));
  const common = { base, prompts, completions, logps: score(model, adapter) };
  mergeAdapter(model, adapter);
  const baseConfig = readConfigToCopy(folder);
  write(join(target, `${base}-merged`), encodeModel(model, { baseConfig }));
  // Without the file that it came from, too.
  write(join(target, `${base}-bare`), encodeModel(model));
  const merged = { ...common, logps: score(model, null), kind: 'model' };
  return [
    { ...common, name: `${base}-adapter`, kind: 'adapter' },
    { ...merged, name: `${base}-merged` },
    { ...merged, name: `${base}-bare` },
  ];
});
write(target, { 'logps.json': JSON.stringify(written) });

const families = fileURLToPath(new URL('./fixtures/families', import.meta.url));
for (const name of readdirSync(families)) {
  const base = join(families, name);
  const model = loadModel(base, 64);
  const adapter = loadAdapter(join(base, 'adapter'), model);
  write(join(target, 'families', name, 'adapter'), encodeAdapter(adapter, name));
  const merged = openMergedModel(base, join(base, 'adapter'));
  const tensors = merged.tensors.map(({ name, shape, pieces }) => ({ name, shape, pieces: () => pieces() }));
  const baseConfig = readConfigToCopy(base);
  write(join(target, 'families', name), {
    'config.json': encodeModelConfig(merged.config, 'F32', baseConfig),
    'model.safetensors': Buffer.concat([...safetensorsPieces(tensors, { format: 'pt' })]),
  });
}

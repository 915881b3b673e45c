import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import '@tensorflow/tfjs-backend-cpu';
import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { disposeAdapter } from '../../../main/model/lora.ts';
import { disposeModel } from '../../../main/model/model.ts';
import { encodeAdapterConfig, loadAdapter } from '../../../main/model/peft.ts';
import { readAdapterFacts } from '../../../main/trainer/memory/model-facts.ts';
import { fault } from '../../model/faults.ts';
import { tinyModel } from '../../model/tiny.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

beforeAll(async () => void (await tf.setBackend('cpu')));

const A = 'base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight';
const B = A.replace('lora_A', 'lora_B');
/** Bytes of 1.5 as each type stores it. */
const BITS: Readonly<Record<string, readonly number[]>> = {
  F32: [0x00, 0x00, 0xc0, 0x3f],
  F16: [0x00, 0x3e],
  BF16: [0xc0, 0x3f],
  F64: [0, 0, 0, 0, 0, 0, 0xf8, 0x3f],
  I8: [1],
  F8_E4M3: [0x3c],
};

/** An adapter of rank 1 on q_proj [32, 32] of layer 0, all of whose numbers are 1.5. */
function adapterOf(typeOfA: string, typeOfB: string): string {
  const folder = temporaryFolder();
  mkdirSync(folder, { recursive: true });
  const lora = { r: 1, alpha: 2, useRslora: false, targetModules: ['layers.0.self_attn.q_proj'] };
  writeFileSync(join(folder, 'adapter_config.json'), encodeAdapterConfig(lora, 'base'));
  const data = [typeOfA, typeOfB].map((type) =>
    Buffer.concat(Array.from({ length: 32 }, () => Buffer.from(BITS[type] ?? []))),
  );
  const [first = 0, second = 0] = data.map(({ length }) => length);
  const header = JSON.stringify({
    [A]: { dtype: typeOfA, shape: [1, 32], data_offsets: [0, first] },
    [B]: { dtype: typeOfB, shape: [32, 1], data_offsets: [first, first + second] },
  });
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(join(folder, 'adapter_model.safetensors'), Buffer.concat([size, Buffer.from(header), ...data]));
  return folder;
}

describe('readAdapterFacts', () => {
  it.each(['F32', 'F16', 'BF16'])('reads an adapter of %s, which is loaded as float32', (type) => {
    const folder = adapterOf(type, 'F32');
    expect(readAdapterFacts(folder)).toMatchObject({ rank: 1, alpha: 2, parameters: 64 });
    const model = tinyModel();
    const adapter = loadAdapter(folder, model);
    const [module] = adapter.modules.values();
    expect([module?.a.value.dtype, [...new Set(module?.a.value.dataSync())]]).toEqual(['float32', [1.5]]);
    disposeAdapter(adapter);
    disposeModel(model);
  });

  it.each(['F64', 'I8', 'F8_E4M3'])('refuses %s, naming tensor and file', (type) => {
    const folder = adapterOf('F32', type);
    expect(fault(() => readAdapterFacts(folder))).toEqual([
      'UNSUPPORTED_DTYPE',
      `${join(folder, 'adapter_model.safetensors')}: expected tensor "${B}" as F32, F16 or BF16, got ${type}`,
    ]);
  });
});

import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { disposeModel } from '../../../main/model/model.ts';
import type { MachineMemory } from '../../../main/services/doctor/machine-memory.ts';
import { expectedMemory } from '../../../main/services/training/demand.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { float32Bytes } from '../../../main/trainer/memory/float32-bytes.ts';
import { addRun } from '../../store/helpers.ts';
import { writeTinyModel } from '../../tiny-model.ts';
import { modelHost } from '../models/places.ts';
import { taskYaml, writeTask } from '../tasks/task-folder.ts';

const MIB = 2 ** 20;
const plain: MachineMemory = { freeBytes: 8192 * MIB, gpu: null, native: false };
const gpu = { name: 'RTX 4090', freeBytes: 20_480 * MIB, shared: false, cuda: false };

async function world() {
  const host = modelHost();
  const folder = join(host.workspace.models, 'own');
  disposeModel(await writeTinyModel(folder));
  const settings = { model: folder, dataset: 'd.jsonl', activation_memory_mb: 512 };
  const expected = (machine: MachineMemory, changes: object = {}) =>
    expectedMemory(host.store, parseConfig({ ...settings, ...changes }), folder, host.paths, machine);
  const estimated = (changes: object, data: object): void => {
    const runId = addRun(host.store, { configJson: JSON.stringify(parseConfig({ ...settings, ...changes })) });
    host.store.events.record({
      runId,
      step: 0,
      kind: 'estimate',
      severity: 'info',
      message: 'About',
      remedy: null,
      data,
    });
  };
  return { expected, estimated, root: host.root };
}

describe('expectedMemory', () => {
  it("counts a GPU's memory apart from the machine's", async () => {
    const { expected } = await world();
    expect(expected(plain)).toMatchObject({ gpu: 0 });
    expect(expected(plain).host).toBeGreaterThan(700 * MIB);
    const there = expected({ ...plain, gpu });
    expect(there.host).toBeLessThan(1000 * MIB);
    expect(there.gpu).toBeGreaterThan(700 * MIB);
    expect(expected({ ...plain, gpu }, { backend: 'wasm' }).gpu).toBe(0);
    expect(expected({ ...plain, gpu: { ...gpu, shared: true } })).toEqual({ host: there.host + there.gpu, gpu: 0 });
  });

  it("counts the scores that TensorFlow's ops hold on a CUDA GPU", async () => {
    const { expected } = await world();
    const on = (cuda: boolean, changes: object = {}) => expected({ ...plain, gpu: { ...gpu, cuda } }, changes).gpu;
    // CUDA's own libraries, and a few kilobytes, as precision depends on the device.
    const more = on(true) - on(false);
    expect(more).toBeGreaterThanOrEqual(384 * MIB);
    expect(more).toBeLessThan(385 * MIB);
    expect(on(true, { max_completion_length: 4000 })).toBeGreaterThan(on(true) + 100 * MIB);
    expect(on(false, { max_completion_length: 4000 })).toBe(on(false));
  });

  it('takes what an equal run on the same backend found', async () => {
    const { expected, estimated } = await world();
    estimated({ backend: 'webgpu' }, { memoryBytes: 400 * MIB, gpuBytes: 900 * MIB });
    expect(expected({ ...plain, gpu }, { backend: 'webgpu' })).toEqual({ host: 400 * MIB, gpu: 900 * MIB });
    expect(expected(plain, { backend: 'wasm' }).host).not.toBe(400 * MIB);
  });

  it.each<[string, object, object?]>([
    ['engine', { engine: 'elsewhere' }],
    ['beta', { use_peft: false, beta: 0.1 }, { use_peft: false }],
    ['lora_r', { lora_r: 64 }],
    ['max_completion_length', { max_completion_length: 8 }],
    ['activation_memory_mb', { activation_memory_mb: 64 }],
    ['gradient_accumulation_steps', { gradient_accumulation_steps: 4, num_generations: 2 }, { num_generations: 2 }],
  ])('takes nothing from a run with another %s', async (_, before, now = {}) => {
    const { expected, estimated } = await world();
    estimated(before, { memoryBytes: 5000 * MIB, gpuBytes: 0 });
    expect(expected(plain, now).host).toBeLessThan(5000 * MIB);
  });

  it("doesn't believe an estimate that mixed both memories", async () => {
    const { expected, estimated } = await world();
    estimated({}, { memoryBytes: 5000 * MIB });
    expect(expected(plain)).toEqual({ host: 5000 * MIB, gpu: 0 });
    expect(expected({ ...plain, gpu }).host).toBeLessThan(1000 * MIB);
  });

  it('counts the reward models of a task, once', async () => {
    const { expected, estimated, root } = await world();
    const encoder = join(root, 'models', 'encoder');
    cpSync(resolve(import.meta.dirname, '../../parity/fixtures/bert'), encoder, { recursive: true });
    const close = "close: { weight: 1, encoder: models/encoder, compare_to: '{word}' }";
    writeTask(join(root, 'tasks'), 'near', { 'task.yaml': taskYaml.replace('said: 1,', `said: 1, ${close},`) });
    writeTask(join(root, 'tasks'), 'plain');
    const own = float32Bytes(encoder);
    expect(own).toBeGreaterThan(0);
    const [none, near] = [{ task: 'plain' }, { task: 'near' }];
    expect(expected(plain, near).host).toBe(expected(plain, none).host + own);
    expect(expected({ ...plain, gpu }, near)).toEqual({ ...expected({ ...plain, gpu }), host: 830 * MIB + own });
    expect(expected(plain, { task: 'gone' }).host).toBe(expected(plain, none).host);
    // The trainer's estimate has them.
    estimated(near, { memoryBytes: 5000 * MIB });
    expect(expected(plain, near).host).toBe(5000 * MIB);
    expect(expected(plain, none).host).toBeLessThan(5000 * MIB);
  });
});

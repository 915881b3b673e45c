import * as tf from '@tensorflow/tfjs-core';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import type { ModelConfig } from '../../../main/model/config.ts';
import { type GenerateOptions, generate } from '../../../main/model/generate.ts';
import { randomModel } from '../../../main/model/load.ts';
import { type Adapter, disposeAdapter } from '../../../main/model/lora.ts';
import { disposeModel, type Model } from '../../../main/model/model.ts';
import { type DecodeRun, registerDecodeRun } from '../../../main/tensor/ops/decode-step.ts';
import { type PendingRead, registerStartRead } from '../../../main/tensor/ops/pending-read.ts';
import { WEBGPU_BACKEND } from '../../../main/tensor/webgpu/backend.ts';
import { openGpuDecodeRun } from '../../../main/tensor/webgpu/decode.ts';
import { closeWebGpuBackend } from '../../../main/tensor/webgpu/open.ts';
import { timeDecoding } from '../../../main/trainer/local/timing.ts';
import { SMALL } from '../../small-config.ts';
import { shakenAdapter } from '../shaken-adapter.ts';
import { opened, openGpuForTest } from './open.ts';

const LAYERS = 2;
const MODEL: ModelConfig = {
  ...SMALL,
  modelType: 'qwen3',
  numLayers: LAYERS,
  attentionBias: true,
  qkNorm: true,
};
const OPTIONS: GenerateOptions = {
  numGenerations: 2,
  maxNewTokens: 8,
  eosTokenIds: [7, 8, 9],
  coordinates: [1, 2],
  temperature: 1,
  topK: 0,
  topP: 1,
  minP: null,
  repetitionPenalty: 1,
};
const PROMPTS = [[5, 9, 33], [7], [60, 61, 62, 63, 64, 65, 66]];
const ALL = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];

const gpu = await openGpuForTest();

describe.runIf(gpu !== null)('decoding by the fused step', () => {
  const model: Model | null = gpu === null ? null : randomModel(MODEL, 3, 32, () => 0.3);
  const fuse = (on: boolean): void =>
    registerDecodeRun(WEBGPU_BACKEND, (...run) => (on ? openGpuDecodeRun(opened(gpu), ...run) : null));
  const lookAhead = (on: boolean): void =>
    registerStartRead(WEBGPU_BACKEND, (x) => (on ? opened(gpu).startRead(x) : null));
  afterEach(() => {
    vi.restoreAllMocks();
    fuse(true);
    lookAhead(true);
  });
  afterAll(async () => {
    if (model !== null) disposeModel(model);
    await closeWebGpuBackend(opened(gpu));
  });

  const ids = (adapter: Adapter | null, options: Partial<GenerateOptions> = {}) =>
    generate(model as Model, adapter, PROMPTS, { ...OPTIONS, ...options }).map((completion) => completion.ids);

  it.each([
    ['no adapter', null],
    ['an adapter on some layers', ['q_proj', 'v_proj', 'up_proj']],
    ['an adapter on all layers', ALL],
  ])('samples the tokens of decoding op by op, with %s', (_, targets) => {
    const adapter = targets === null ? null : shakenAdapter(model as Model, targets, 0.4);
    const before = tf.memory().numTensors;
    const fused = ids(adapter);
    fuse(false);
    expect(fused).toEqual(ids(adapter));
    expect(tf.memory().numTensors).toBe(before);
    if (adapter !== null) disposeAdapter(adapter);
  });

  /** What one more token takes. */
  function costOfAToken(adapter: Adapter | null): { dispatches: number; barriers: number } {
    const count = (maxNewTokens: number) => {
      const before = opened(gpu).gpu.counts;
      ids(adapter, { maxNewTokens, eosTokenIds: [] });
      const { dispatches, barriers } = opened(gpu).gpu.counts;
      return { dispatches: dispatches - before.dispatches, barriers: barriers - before.barriers };
    };
    const [six, five] = [count(6), count(5)];
    return { dispatches: six.dispatches - five.dispatches, barriers: six.barriers - five.barriers };
  }

  it('takes five dispatches a layer, with an adapter and without', () => {
    const adapter = shakenAdapter(model as Model, ALL, 0.4);
    // Besides the layers: the embedding, its norm, the head, and two for the draw.
    const dispatches = 5 * LAYERS + 5;
    for (const found of [costOfAToken(adapter), costOfAToken(null)]) {
      expect(found.dispatches).toBe(dispatches);
      // Each needs the one before; the first has the ids alone to wait for.
      expect(found.barriers).toBeLessThanOrEqual(dispatches);
    }
    disposeAdapter(adapter);
  });

  it('takes the default of 128 rows in the same dispatches, with the tokens of two batches of 64', () => {
    const all = { maxNewTokens: 3, eosTokenIds: [] };
    const sample = (options: Partial<GenerateOptions>) =>
      generate(model as Model, null, PROMPTS.slice(0, 2), { ...OPTIONS, numGenerations: 64, ...options }).map(
        (completion) => completion.ids,
      );
    const dispatches = (maxNewTokens: number): number => {
      const before = opened(gpu).gpu.counts.dispatches;
      sample({ ...all, maxNewTokens });
      return opened(gpu).gpu.counts.dispatches - before;
    };
    expect(dispatches(3) - dispatches(2)).toBe(7 * LAYERS + 5);
    expect(sample(all)).toEqual(sample({ ...all, inBatches: (work) => work(64) }));
  });

  /** Completions, and all calls on the way. */
  function followed(options: Partial<GenerateOptions>) {
    const calls: (readonly number[])[] = [];
    const listeners = {
      onRow: (...call: [number, number]) => void calls.push(call),
      onToken: (...call: [number, number]) => void calls.push(call),
    };
    const made = generate(model as Model, null, PROMPTS, { ...OPTIONS, ...listeners, ...options });
    return { made, calls };
  }

  it('lets rows that have ended leave a step later, without a change of the others', () => {
    const ahead = followed({});
    lookAhead(false);
    expect(ahead).toEqual(followed({}));
    expect(new Set(ahead.made.map((completion) => completion.ids.length)).size).toBeGreaterThan(1);
  });

  it.each<readonly [string, Partial<GenerateOptions>]>([
    ['argmax until the limit', { temperature: 0, eosTokenIds: [], maxNewTokens: 3 }],
    ['a test of the text', { stops: (prompt, own) => own.length === prompt.length }],
    ['filters and a penalty', { topK: 9, topP: 0.9, repetitionPenalty: 1.3 }],
    ['a token alone', { maxNewTokens: 1 }],
  ])('gives the same one step ahead of its tokens as when it waits for them: %s', (_, options) => {
    const before = tf.memory().numTensors;
    const ahead = followed(options);
    lookAhead(false);
    expect(ahead).toEqual(followed(options));
    expect(tf.memory().numTensors).toBe(before);
  });

  /** Runs `wait` in place of each read's own; reads that were neither waited for nor cancelled. */
  function watchReads(wait: (since: number, read: PendingRead) => ArrayBuffer): ReadonlySet<PendingRead> {
    const { gpu: device } = opened(gpu);
    const start = device.startRead.bind(device);
    const open = new Set<PendingRead>();
    vi.spyOn(device, 'startRead').mockImplementation((...given) => {
      const read = start(...given);
      const { dispatches } = device.counts;
      open.add(read);
      return {
        wait: () => {
          const bytes = wait(device.counts.dispatches - dispatches, read);
          open.delete(read);
          return bytes;
        },
        cancel: () => {
          read.cancel();
          open.delete(read);
        },
      };
    });
    return open;
  }

  it('posts the step after a token before it waits for that, but none after the last', () => {
    const between: number[] = [];
    watchReads((since, read) => {
      between.push(since);
      return read.wait();
    });
    ids(null, { maxNewTokens: 4, eosTokenIds: [] });
    const step = 5 * LAYERS + 3;
    expect(between).toEqual([step, step, step, 0]);
  });

  it('keeps neither tensors nor buffers of a step ahead that fails, nor of tokens that never come', () => {
    const { gpu: device } = opened(gpu);
    const used = (): number => {
      device.restartPeak();
      return device.counts.bytes;
    };
    ids(null);
    const before = [tf.memory().numTensors, used()];
    let fails = true;
    const open = watchReads((_, read) => {
      if (fails) throw new Error('gone');
      return read.wait();
    });
    expect(() => ids(null)).toThrow('gone');
    fails = false;
    registerDecodeRun(WEBGPU_BACKEND, (...run) => {
      const own = openGpuDecodeRun(opened(gpu), ...run);
      let steps = 0;
      const step: DecodeRun['step'] = (given) => {
        if (steps++ === 2) throw new Error('no memory');
        return (own as DecodeRun).step(given);
      };
      return { ...(own as DecodeRun), step };
    });
    expect(() => ids(null, { eosTokenIds: [] })).toThrow('no memory');
    expect([tf.memory().numTensors, used()]).toEqual(before);
    expect(open.size).toBe(0);
  });

  it.each([
    ['any token', {}],
    ['the likeliest tokens', { topK: 9 }],
  ])('gives kernels the buffers of the tokens before, so that bind groups are found again: %s', (_, options) => {
    const { gpu: device } = opened(gpu);
    const run = device.run.bind(device);
    const groups = new Set<string>();
    vi.spyOn(device, 'run').mockImplementation((code, buffers, ...rest) => {
      groups.add(`${code.name} ${buffers.map(({ id }) => id).join()}`);
      run(code, buffers, ...rest);
    });
    const known: number[] = [];
    ids(null, { ...options, maxNewTokens: 12, eosTokenIds: [], onToken: () => void known.push(groups.size) });
    // The first tokens try the buffers out.
    expect(known.slice(-6)).toEqual(Array.from({ length: 6 }, () => groups.size));
  });

  it('is timed in the same order', () => {
    const between: number[] = [];
    watchReads((since, read) => {
      between.push(since);
      return read.wait();
    });
    // By a clock for which no step is slow.
    let clock = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => ++clock);
    timeDecoding(
      { model: model as Model, adapter: null },
      { prompts: [{ tokens: 3, rows: 2 }], steps: 8, capacity: 8 },
    );
    expect(Math.max(...between)).toBeGreaterThan(5 * LAYERS);
  });

  it('reads once for the prompts, whether their logits are finite, and once a token', () => {
    const before = opened(gpu).gpu.counts.reads;
    ids(null, { maxNewTokens: 5, eosTokenIds: [] });
    expect(opened(gpu).gpu.counts.reads - before).toBe(1 + 5);
  });
});

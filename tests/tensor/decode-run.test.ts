import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ModelConfig, parseModelConfig } from '../../main/model/config.ts';
import { openDecoding } from '../../main/model/decoding.ts';
import { randomModel } from '../../main/model/load.ts';
import { disposeAdapter } from '../../main/model/lora.ts';
import { attentionLayers, mixerOf } from '../../main/model/mixers/index.ts';
import { blockLinears, disposeModel, type Model, modelParameters } from '../../main/model/model.ts';
import { type Kept, stateKey } from '../../main/model/sequences.ts';
import { toBfloat16 } from '../../main/tensor/bfloat16.ts';
import { type KernelCall, profileKernels } from '../../main/tensor/kernel-profile.ts';
import { openNativeDecodeRun } from '../../main/tensor/native/cpu/decode-run.ts';
import { hasKernels, type KernelBinding } from '../../main/tensor/native/cpu/run-kernel.ts';
import { NATIVE_BACKEND } from '../../main/tensor/native/load.ts';
import { openNativeBackend } from '../../main/tensor/native/open.ts';
import { sizesOf, workOf } from '../../main/tensor/op-costs.ts';
import { type DecodeRun, type OpenDecodeRun, registerDecodeRun } from '../../main/tensor/ops/decode-step.ts';
import type { PrefixKv } from '../../main/tensor/ops/kv-cache.ts';
import { closeWasmBackend } from '../../main/tensor/wasm/boot.ts';
import { openWasmDecodeRun } from '../../main/tensor/wasm/decode-run.ts';
import type { WasmRuntime } from '../../main/tensor/wasm/runtime.ts';
import { makeWeight } from '../../main/tensor/weights.ts';
import { nativeUnderTest } from '../native-under-test.ts';
import { SMALL } from '../small-config.ts';
import { randomTensor } from './ops/finite-differences.ts';
import { shakenAdapter } from './shaken-adapter.ts';
import { openForTest } from './wasm/open.ts';

const LAYERS = 2;
const QWEN3: ModelConfig = {
  ...SMALL,
  modelType: 'qwen3',
  hiddenSize: 36,
  intermediateSize: 52,
  numLayers: LAYERS,
  attentionBias: true,
  qkNorm: true,
};
/** Of the bundled model's shape: its products are large enough for all threads. */
const LLAMA: ModelConfig = {
  ...QWEN3,
  modelType: 'llama',
  attentionBias: false,
  qkNorm: false,
  hiddenSize: 128,
  intermediateSize: 256,
  numHeads: 8,
  numKvHeads: 8,
  headDim: 16,
  vocabSize: 512,
};
const HYBRID = {
  ...{ vocab_size: 96, hidden_size: 32, intermediate_size: 48, num_hidden_layers: LAYERS },
  ...{ num_attention_heads: 4, num_key_value_heads: 2, max_position_embeddings: 64 },
};
/** Its heads' rotated dimensions, states and gates are of sizes that vectors don't divide evenly. */
const QWEN35 = parseModelConfig(
  {
    ...HYBRID,
    ...{ model_type: 'qwen3_5_text', layer_types: ['linear_attention', 'full_attention'], head_dim: 24 },
    ...{ linear_num_key_heads: 2, linear_num_value_heads: 4, linear_key_head_dim: 8, linear_value_head_dim: 12 },
  },
  'qwen3_5_text',
);
const LFM2 = parseModelConfig({ ...HYBRID, model_type: 'lfm2', full_attn_idxs: [1], conv_bias: true }, 'lfm2');
const ALL = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
const DELTA = ['in_proj_qkv', 'in_proj_z', 'in_proj_a', 'in_proj_b', 'out_proj'];
const PROMPTS = [
  { start: 0, length: 5 },
  { start: 5, length: 1 },
  { start: 6, length: 11 },
];
const CAPACITY = 7;

interface Case {
  readonly config: ModelConfig;
  readonly rowsEach: number;
  readonly targets?: readonly string[];
  readonly half?: boolean;
}

const CASES: Readonly<Record<string, Case>> = {
  'biases and norms of heads': { config: QWEN3, rowsEach: 2 },
  'an adapter on some layers': { config: QWEN3, rowsEach: 2, targets: ['q_proj', 'v_proj', 'up_proj'] },
  'an adapter on all layers': { config: LLAMA, rowsEach: 5, targets: ALL },
  'one row a prompt': { config: LLAMA, rowsEach: 1 },
  'many rows': { config: LLAMA, rowsEach: 40 },
  'a delta rule, gated attention and an adapter': { config: QWEN35, rowsEach: 2, targets: [...ALL, ...DELTA] },
  'a short convolution': { config: LFM2, rowsEach: 2 },
  'bfloat16 weights': { config: LLAMA, rowsEach: 20, half: true },
};

const keptOf = (config: ModelConfig): Kept => ({ kv: prefixOf(config), states: statesOf(config) });

/** Of each layer that recurs, for each prompt. */
function statesOf(config: ModelConfig): Map<string, tf.Tensor2D> {
  const states = new Map<string, tf.Tensor2D>();
  for (let layer = 0; layer < LAYERS; layer++)
    mixerOf(config, layer)
      .stateWidths(config)
      .forEach((width, slot) => {
        const state = randomTensor([PROMPTS.length, width], 300 + slot) as tf.Tensor2D;
        states.set(stateKey(layer, slot), state);
      });
  return states;
}

/** Rounds the weights of all matrices and keeps them in 16 bits. */
function halve(model: Model): void {
  const linears = model.layers.flatMap(blockLinears);
  for (const { weight } of linears) {
    const { value } = weight;
    const bits = toBfloat16(value.dataSync<'float32'>() as Float32Array<ArrayBuffer>);
    const raw = (first: number, count: number): Buffer<ArrayBuffer> =>
      Buffer.from(bits.slice(first, first + count).buffer);
    const none = (): never => {
      throw new Error('Expected the bits to be read as they are');
    };
    weight.value = makeWeight(
      { type: 'BF16', read: none, readPart: none, readRaw: raw },
      value.shape,
      'bfloat16',
    ) as tf.Tensor2D;
    value.dispose();
  }
}

/** Biases that aren't 0 and norms that aren't 1, each its own. */
function shake(model: Model): void {
  modelParameters(model).forEach((parameter, i) => {
    const { value } = parameter;
    if (value.shape.length !== 1) return;
    parameter.value = tf.tidy(() => tf.add(value, tf.mul(0.3, randomTensor([value.size], 200 + i))));
    value.dispose();
  });
}

const prefixOf = (config: ModelConfig): PrefixKv[] =>
  attentionLayers(config).map((layer) => {
    const shape: [number, number] = [17, config.numKvHeads * config.headDim];
    return {
      k: randomTensor(shape, 2 * layer) as tf.Tensor2D,
      v: randomTensor(shape, 2 * layer + 1) as tf.Tensor2D,
    };
  });

const idsOf = (count: number, step: number): number[] =>
  Array.from({ length: count }, (_, row) => (7 * row + 13 * step + 1) % 96);

/** Logits of five steps, of which the third has fewer rows and the last skips a token; then the rows' states. */
function decode(run: DecodeRun, rows: number): Float32Array[] {
  const logits: Float32Array[] = [];
  const step = (count: number): void => {
    const ids = idsOf(count, logits.length);
    // The first step's where a backend left them.
    const there = logits.length === 0 ? [tf.tensor1d(ids, 'int32')] : [];
    const tensor = run.step(there[0] ?? ids);
    logits.push(tensor.dataSync<'float32'>().slice());
    tf.dispose([tensor, ...there]);
  };
  step(rows);
  step(rows);
  const kept = Array.from({ length: rows }, (_, row) => row).filter((row) => row % 3 !== 1);
  run.keep(kept);
  step(kept.length);
  step(kept.length);
  run.skip(1);
  step(kept.length);
  for (const state of run.states?.([...kept.keys()]).values() ?? []) {
    logits.push(state.dataSync<'float32'>().slice());
    state.dispose();
  }
  run.dispose();
  return logits;
}

/** A backend whose steps don't pass through tfjs. */
interface Tested {
  readonly name: string;
  open(): Promise<OpenedForTest>;
}

interface OpenedForTest {
  readonly backendName: string;
  readonly openRun: OpenDecodeRun;
  /** What must be after a run what it was before. */
  inUse(): number;
  close(): Promise<void>;
}

const onWasm = (threads: number): Tested => ({
  name: `wasm on ${threads} threads`,
  open: async () => {
    const runtime = await openForTest(threads);
    return {
      backendName: 'wasm',
      openRun: (...run) => openWasmDecodeRun(runtime, ...run),
      inUse: runtime.heap.bytesInUse,
      close: () => closeWasmBackend(runtime),
    };
  },
});

const onNative: Tested = {
  name: 'native',
  open: async () => {
    const opened = await openNativeBackend(2, nativeUnderTest ?? undefined);
    if (!opened.ok || !hasKernels(opened.backend.binding)) throw new Error('Expected the addon to have our kernels');
    const { backend } = opened;
    const { binding } = opened.backend;
    await tf.setBackend(NATIVE_BACKEND);
    return {
      backendName: NATIVE_BACKEND,
      openRun: (...run) => openNativeDecodeRun(backend, binding as KernelBinding, ...run, () => undefined),
      inUse: () => binding.getNumOfTensors(),
      close: async () => undefined,
    };
  },
};

const TESTED = [onWasm(1), onWasm(2), onWasm(3), ...(nativeUnderTest === null ? [] : [onNative])];

describe.each(TESTED)('decoding below tfjs, $name', ({ open }) => {
  let tested: OpenedForTest;
  beforeAll(async () => {
    tested = await open();
  });
  afterAll(async () => {
    registerDecodeRun(tested.backendName, tested.openRun);
    await tested.close();
  });
  let listed = 0;
  const useList = (on: boolean): void =>
    registerDecodeRun(tested.backendName, (...run) => {
      if (!on) return null;
      listed++;
      return tested.openRun(...run);
    });

  function withCase<T>(
    { config, rowsEach, targets, half = false }: Case,
    work: (open: () => DecodeRun, rows: number) => T,
  ): T {
    const model = randomModel(config, 3, 32, () => 0.3);
    shake(model);
    if (half) halve(model);
    const adapter = targets === undefined ? null : shakenAdapter(model, targets, 0.4);
    const rows = PROMPTS.flatMap((prompt, sequence) =>
      Array.from({ length: rowsEach }, () => ({ ...prompt, sequence })),
    );
    try {
      return work(() => openDecoding(model, adapter, keptOf(config), rows, CAPACITY), rows.length);
    } finally {
      disposeModel(model);
      if (adapter !== null) disposeAdapter(adapter);
    }
  }

  it.each(Object.entries(CASES))('gives the bits of decoding op by op: %s', (_, test) => {
    withCase(test, (open, rows) => {
      useList(false);
      const byOps = decode(open(), rows);
      const before = { tensors: tf.memory().numTensors, inUse: tested.inUse() };
      useList(true);
      listed = 0;
      const below = decode(open(), rows);
      expect(listed).toBe(1);
      expect({ tensors: tf.memory().numTensors, inUse: tested.inUse() }).toEqual(before);
      expect(below.map((logits) => [...logits])).toEqual(byOps.map((logits) => [...logits]));
      expect(new Set(below[0]).size).toBeGreaterThan(50);
    });
  });

  it.each([
    ['an adapter', { config: LLAMA, rowsEach: 2, targets: ALL }],
    ['biases', { config: QWEN3, rowsEach: 2 }],
    ['states', { config: QWEN35, rowsEach: 2 }],
  ])('reports the work that decoding op by op does to a profile, with %s', (_, test) => {
    withCase(test, (open, rows) => {
      const workDone = (below: boolean): Map<string, number[]> => {
        useList(below);
        const run = open();
        const works = new Map<string, number[]>();
        const end = profileKernels((call: KernelCall) => {
          const key = `${call.name} ${sizesOf(call)}`;
          const { flop, bytes } = workOf(call);
          const [flops = 0, moved = 0] = works.get(key) ?? [];
          // Indices and positions, a few bytes each, aren't counted below tfjs; parts are read where they lie.
          if (flop > 0 && call.name !== 'SplitV') works.set(key, [flops + flop, moved + Math.round(bytes / 1000)]);
          expect(call.seconds).toBeGreaterThan(0);
        });
        run.step(idsOf(rows, 0)).dispose();
        end();
        run.dispose();
        return works;
      };
      expect(workDone(true)).toEqual(workDone(false));
    });
  });

  it('copies the state of a row that is kept twice', () => {
    withCase({ config: QWEN35, rowsEach: 1 }, (open) => {
      useList(true);
      const lastOf = (kept: readonly number[]): number[] => {
        const run = open();
        run.step([1, 2, 3]).dispose();
        run.keep(kept);
        for (let step = 0; step < 2; step++) run.step(kept.map(() => 4)).dispose();
        const logits = run.step(kept.map(() => 5));
        const numbers = [...logits.dataSync<'float32'>()];
        logits.dispose();
        run.dispose();
        return numbers;
      };
      const other = lastOf([2, 0]).slice(0, 96);
      expect(lastOf([2, 2])).toEqual([...other, ...other]);
    });
  });

  it('refuses ids that are none and more tokens than it has room for', () => {
    withCase({ config: LLAMA, rowsEach: 1 }, (open, rows) => {
      useList(true);
      const run = open();
      expect(() => run.step([1, 2, 512])).toThrow(/below 512/);
      expect(() => run.step([1, 2])).toThrow(`Expected ${rows} ids`);
      for (let step = 0; step < CAPACITY; step++) run.step([1, 2, 3]).dispose();
      expect(() => run.step([1, 2, 3])).toThrow(`at most ${CAPACITY}`);
      run.dispose();
    });
  });
});

describe('a list of jobs for decoding, where memory is short', () => {
  let runtime: WasmRuntime;
  beforeAll(async () => {
    runtime = await openForTest(2);
  });
  const test: Case = { config: LLAMA, rowsEach: 2, targets: ALL };
  afterAll(() => closeWasmBackend(runtime));

  it('frees what it took when memory runs out on the way', () => {
    const model = randomModel(test.config, 3, 32, () => 0.3);
    const rows = PROMPTS.flatMap((prompt) => [prompt, prompt]).map((place) => ({ ...place, sequence: 0 }));
    let failures = 0;
    for (let most = 0; ; most++) {
      let left = most;
      const malloc = (bytes: number): number => {
        if (left-- <= 0) throw new Error('No memory');
        return runtime.heap.malloc(bytes);
      };
      registerDecodeRun('wasm', (...run) =>
        openWasmDecodeRun({ ...runtime, heap: { ...runtime.heap, malloc } }, ...run),
      );
      const before = runtime.heap.bytesInUse();
      const prefix = prefixOf(test.config);
      try {
        openDecoding(model, null, { kv: prefix, states: new Map() }, rows, CAPACITY).dispose();
        break;
      } catch (error) {
        expect(String(error)).toMatch(/No memory/);
        failures++;
      } finally {
        tf.dispose(prefix.map(({ k, v }) => [k, v]));
        expect(runtime.heap.bytesInUse()).toBe(before);
      }
    }
    expect(failures).toBeGreaterThan(10);
    disposeModel(model);
  });
});

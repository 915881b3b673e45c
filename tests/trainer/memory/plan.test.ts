import { describe, expect, it } from 'vitest';
import type { ModelConfig } from '../../../main/model/config.ts';
import { readQuantisation } from '../../../main/model/quantised/settings.ts';
import { PLAIN_TRAITS } from '../../../main/model/traits.ts';
import { parseConfig } from '../../../main/trainer/config/config.ts';
import { planRows, tokenCost } from '../../../main/trainer/memory/activations.ts';
import {
  deviceBudget,
  keptAs,
  precisionFor,
  quarterSteps,
  residentsOfRun,
  usedBytes,
  weightCount,
} from '../../../main/trainer/memory/budget.ts';
import { decideForRun } from '../../../main/trainer/memory/decide.ts';
import { memoryNeeds } from '../../../main/trainer/memory/model-facts.ts';
import {
  cacheBytes,
  kvBytesPerToken,
  memoryPlan,
  type PlanOptions,
  rowsAtOnce,
} from '../../../main/trainer/memory/plan.ts';

/** Llama-3.2-3B, from its config.json. */
const LLAMA_3B: ModelConfig = {
  ...PLAIN_TRAITS,
  modelType: 'llama',
  vocabSize: 128256,
  hiddenSize: 3072,
  intermediateSize: 8192,
  numLayers: 28,
  numHeads: 24,
  numKvHeads: 8,
  headDim: 128,
  rmsNormEps: 1e-5,
  ropeTheta: 500000,
  ropeScaling: null,
  maxPositionEmbeddings: 131072,
  tieWordEmbeddings: true,
  attentionBias: false,
  qkNorm: false,
  eosTokenIds: [],
  padTokenId: null,
};
const GIB = 2 ** 30;
const native = (gib: number) => deviceBudget('native', gib * GIB);
const options = (over: Partial<PlanOptions>): PlanOptions => ({
  promptTokens: 180,
  completionTokens: 40,
  prompts: 1,
  group: 16,
  trained: { rank: 16 },
  budget: native(48),
  precision: 'float32',
  ...over,
});

describe('memoryPlan', () => {
  it('counts the weights, and keys and values a token', () => {
    expect(weightCount(LLAMA_3B)).toBe(3212749824);
    expect(kvBytesPerToken(LLAMA_3B)).toBe(2 * 4 * 28 * 8 * 128);
    expect(memoryPlan(LLAMA_3B, options({})).weights).toBe(4 * 3212749824);
  });

  it('counts frozen weights of 16 bits by half, and the largest matrix once more in float32', () => {
    expect(memoryPlan(LLAMA_3B, options({ precision: 'bfloat16' })).weights).toBe(2 * 3212749824 + 4 * 128256 * 3072);
    expect(precisionFor(LLAMA_3B, { rank: 16 }, native(24))).toBe('float32');
    expect(precisionFor(LLAMA_3B, { rank: 16 }, native(12))).toBe('bfloat16');
    expect(precisionFor(LLAMA_3B, 'all', native(12))).toBe('float32');
    expect(precisionFor(LLAMA_3B, { rank: 16 }, deviceBudget('wasm', 12 * GIB))).toBe('bfloat16');
  });

  it('keeps what a folder has in 8 or 4 bits, where there are kernels for it and it is not trained', () => {
    const quantisation = readQuantisation(
      { quantization_config: { quant_method: 'bitsandbytes', bnb_4bit_quant_type: 'nf4' } },
      '',
    );
    const config = { ...LLAMA_3B, quantisation };
    expect(precisionFor(config, { rank: 16 }, deviceBudget('webgpu', 48 * GIB))).toBe('nf4');
    expect(precisionFor(config, 'all', deviceBudget('webgpu', 96 * GIB))).toBe('float32');
    expect(precisionFor(config, { rank: 16 }, native(24))).toBe('float32');
    // What the pages say of them.
    expect(memoryNeeds(config, deviceBudget('webgpu', 48 * GIB)).weightBytes).toBe(0.5);
    expect(memoryNeeds(config, native(24)).weightBytes).toBe(4);
  });

  it('counts linear layers in blocks of 8 or 4 bits, the rest in 16', () => {
    const linear = 28 * (3072 * (3072 + 1024 + 1024 + 3072) + 3 * 3072 * 8192);
    const rest = 2 * (weightCount(LLAMA_3B) - linear);
    const weights = (precision: 'int8' | 'nf4') => memoryPlan(LLAMA_3B, options({ precision })).weights;
    expect(weights('int8')).toBe(rest + 1.0625 * linear);
    expect(weights('nf4')).toBe(rest + 0.5625 * linear);
    // Elsewhere they are unpacked.
    expect(['webgpu', 'wasm', 'native'].map((device) => keptAs('nf4', device as 'webgpu' | 'wasm' | 'native'))).toEqual(
      ['nf4', 'float32', 'float32'],
    );
  });

  it('counts weights that stay as stored by what the file has, on webgpu', () => {
    const budget = deviceBudget('webgpu', 48 * GIB);
    const precision = precisionFor(LLAMA_3B, { rank: 16 }, budget);
    const weights = (over: Partial<PlanOptions>) => memoryPlan(LLAMA_3B, options({ budget, ...over })).weights;
    expect(precision).toBe('stored');
    expect(weights({ precision })).toBe(2 * 3212749824);
    expect(weights({ precision, fileBytes: 4 })).toBe(4 * 3212749824);
    // Those of 8 bits leave the embedding as it is stored.
    const embedding = 128256 * 3072;
    const more = weights({ precision: 'int8', fileBytes: 4 }) - weights({ precision: 'int8' });
    expect(more).toBeGreaterThanOrEqual(2 * embedding);
    expect(more).toBeLessThan(2.01 * embedding);
    const activationMb = (fileBytes: 2 | 4) =>
      decideForRun(parseConfig({}), LLAMA_3B, {}, deviceBudget('webgpu', 24 * GIB), { fileBytes }).activationMb;
    expect(activationMb(4)).toBeLessThan(activationMb(2));
    expect(memoryNeeds(LLAMA_3B, budget, 4).weightBytes).toBe(4);
    expect(memoryNeeds(LLAMA_3B, budget, 2).weightBytes).toBe(2);
  });

  it('counts adapters of rank r with gradient and moments, or all weights three times', () => {
    // (in + out) of the seven linear layers of a block: 6144 + 4096 * 2 + 6144 + 11264 * 3.
    expect(memoryPlan(LLAMA_3B, options({})).optimiser).toBe(16 * 16 * 28 * 54272);
    // Two moments, a micro-batch's gradients and a part's, and the embedding's beside the head's.
    const embedding = 128256 * 3072;
    expect(memoryPlan(LLAMA_3B, options({ trained: 'all' })).optimiser).toBe(4 * (4 * 3212749824 + embedding));
  });

  it('shares a prompt between the rows of its group', () => {
    const shape = { promptTokens: 1000, completionTokens: 0, group: 16 };
    const reading = 4 * (5 * 3072 + (2 * 24 + 3 * 8) * 128 + 3 * 8192);
    expect(cacheBytes(LLAMA_3B, shape, 16)).toBe(1000 * (kvBytesPerToken(LLAMA_3B) + reading));
    expect(cacheBytes(LLAMA_3B, shape, 17)).toBe(2000 * (kvBytesPerToken(LLAMA_3B) + reading));
    // Completions need more than reading their prompts did.
    const long = { promptTokens: 100, completionTokens: 1000, group: 16 };
    expect(cacheBytes(LLAMA_3B, long, 16)).toBeCloseTo(
      (100 + 16 * 1000 * (29 / 28)) * kvBytesPerToken(LLAMA_3B) + 16 * 12 * 128256,
      0,
    );
    // A cache that packs the prompts has them twice while the next turn needs them, too.
    const twice = cacheBytes(LLAMA_3B, { ...long, prefixes: 2 }, 16) - cacheBytes(LLAMA_3B, long, 16);
    expect(twice).toBeCloseTo(100 * kvBytesPerToken(LLAMA_3B), 0);
  });

  it('takes fewer completions at a time where memory is short, and says when one is too many', () => {
    const long = { promptTokens: 1600, completionTokens: 1500 };
    const roomy = memoryPlan(LLAMA_3B, options({ ...long, budget: native(200) }));
    expect(roomy).toMatchObject({ sampled: 16, trained: 16, fits: true });
    const tight = memoryPlan(LLAMA_3B, options({ ...long, budget: native(20) }));
    expect(tight.fits).toBe(true);
    expect(tight.trained).toBeLessThan(16);
    expect(tight.trained).toBeGreaterThanOrEqual(1);
    expect(memoryPlan(LLAMA_3B, options({ ...long, budget: native(12) }))).toMatchObject({
      sampled: 1,
      trained: 1,
      fits: false,
    });
  });
});

describe('what runs decide', () => {
  const config = parseConfig({ num_generations: 16, per_device_train_batch_size: 16 });
  const shape = { promptTokens: 1600, completionTokens: 1500, prompts: 1, group: 16 };

  it('is what the plan shows', () => {
    const budget = native(24);
    const { precision, activationMb } = decideForRun(config, LLAMA_3B, {}, budget);
    const plan = memoryPlan(LLAMA_3B, { ...shape, budget, precision, trained: { rank: config.lora_r } });
    expect(rowsAtOnce(LLAMA_3B, shape, 16, activationMb * 2 ** 20)).toBe(plan.sampled);
    const rows = Array.from({ length: 16 }, () => ({ group: 0, prompt: 1600, completion: 1500 }));
    const { parts } = planRows(rows, tokenCost(LLAMA_3B), {
      activation_memory_mb: activationMb,
      gradient_checkpointing: null,
    });
    expect(parts[0]?.end).toBe(plan.trained);
  });

  it('counts the moments and gradients of full fine-tuning, and the model that KL compares with', () => {
    const small = { ...LLAMA_3B, numLayers: 2, vocabSize: 1000, tieWordEmbeddings: false };
    const used = (over: Partial<PlanOptions>): number => usedBytes(small, options(over), 0, 0);
    const weights = 4 * weightCount(small);
    expect(used({ trained: 'all' }) - used({ trained: 'none' })).toBe(4 * weights);
    expect(used({ trained: 'all', copies: 1 }) - used({ trained: 'all' })).toBe(weights);
    const full = (steps: number) =>
      residentsOfRun(parseConfig({ use_peft: false, gradient_accumulation_steps: steps }), small, native(24));
    expect(used(full(2)) - used(full(1))).toBe(weights);
    const compared = (method: 'grpo' | 'sft' | 'polychromic-sft') =>
      residentsOfRun(parseConfig({ use_peft: false, method, beta: 0.1 }), small, native(24)).copies;
    expect([compared('grpo'), compared('sft'), compared('polychromic-sft')]).toEqual([1, 0, 0]);
  });

  it("counts what reading a vocabulary leaves in the machine's memory, which a heap and a GPU don't hold", () => {
    const used = (vocabSize: number, device: Parameters<typeof usedBytes>[4]): number => {
      const config = { ...LLAMA_3B, numLayers: 0, hiddenSize: 0, vocabSize };
      return usedBytes(config, options({ trained: 'none' }), 0, 0, device);
    };
    const added = (device: Parameters<typeof used>[1]): number => used(1000, device) - used(0, device);
    expect([added('native'), added('wasm'), added('webgpu')]).toEqual([900_000, 0, 0]);
  });

  it('keeps frozen weights in 16 bits where their products are computed in bfloat16', () => {
    const small = { ...LLAMA_3B, numLayers: 2, vocabSize: 1000 };
    const precision = (over: object) =>
      residentsOfRun(parseConfig({ bf16: true, ...over }), small, native(24)).precision;
    expect(precision({})).toBe('bfloat16');
    expect(precision({ base_weights: 'float32' })).toBe('float32');
    expect(precision({ use_peft: false })).toBe('float32');
  });

  it("shows a model's needs by the same rules: 16 bits where they are short, and never more than wasm's heap", () => {
    const onNative = memoryNeeds(LLAMA_3B, native(12));
    expect(onNative).toMatchObject({ weightBytes: 2 });
    expect(onNative.lora).toBeLessThan(12 * GIB);
    expect(onNative.full).toBeGreaterThan(12 * GIB);
    expect(memoryNeeds(LLAMA_3B, native(48))).toMatchObject({ weightBytes: 4 });
    const heap = deviceBudget('wasm', 24 * GIB);
    const onWasm = memoryNeeds(LLAMA_3B, heap);
    expect(onWasm.weightBytes).toBe(2);
    expect(onWasm.generation).toBeGreaterThan(heap.bytes);
  });

  it('names weights of fewer bits where they would make a model fit on webgpu, and takes them when asked', () => {
    const budget = deviceBudget('webgpu', 4 * GIB);
    expect(() => decideForRun(config, LLAMA_3B, {}, budget)).toThrow(
      expect.objectContaining({
        code: 'OUT_OF_MEMORY',
        remedy: expect.stringContaining('base_weights to int8 or nf4'),
      }),
    );
    const packed = { ...config, base_weights: 'nf4' as const };
    expect(decideForRun(packed, LLAMA_3B, {}, budget).precision).toBe('nf4');
    // Elsewhere the same numbers take the memory of float32.
    expect(() => decideForRun(packed, LLAMA_3B, {}, native(8))).toThrow(/needs at least 12/);
    expect(decideForRun(packed, LLAMA_3B, {}, native(48)).precision).toBe('nf4');
  });

  it('keeps a number that was given, and the one that a checkpoint was trained with', () => {
    const given = { ...config, activation_memory_mb: 256 };
    expect(decideForRun(given, LLAMA_3B, { activationMb: 512 }, native(24)).activationMb).toBe(256);
    expect(decideForRun(config, LLAMA_3B, { activationMb: 512 }, native(24)).activationMb).toBe(512);
    expect(decideForRun(config, LLAMA_3B, { precision: 'bfloat16' }, native(48)).precision).toBe('bfloat16');
  });

  it('hardly depends on how much is free at the moment', () => {
    expect([1000, 1024, 1279, 1280].map(quarterSteps)).toEqual([896, 1024, 1024, 1280]);
  });

  it('refuses a model that has no room, before anything is loaded', () => {
    expect(() => decideForRun(config, LLAMA_3B, {}, deviceBudget('wasm', 64 * GIB))).toThrow(
      /needs at least 8\.\d GiB, and 4\.2 GiB the wasm backend can use/,
    );
    expect(() => decideForRun({ ...config, use_peft: false }, LLAMA_3B, {}, native(24))).toThrow(
      expect.objectContaining({ code: 'OUT_OF_MEMORY', remedy: expect.stringContaining('LoRA') }),
    );
  });
});

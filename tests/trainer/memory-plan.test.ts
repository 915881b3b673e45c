import { describe, expect, it } from 'vitest';
import type { ModelConfig } from '../../main/model/config.ts';
import { precisionWithin } from '../../main/trainer/base-precision.ts';
import {
  cacheBytes,
  kvBytesPerToken,
  memoryPlan,
  type PlanOptions,
  weightCount,
} from '../../main/trainer/memory-plan.ts';

/** Llama-3.2-3B, from its config.json. */
const LLAMA_3B: ModelConfig = {
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
const options = (over: Partial<PlanOptions>): PlanOptions => ({
  promptTokens: 180,
  completionTokens: 40,
  prompts: 1,
  group: 16,
  loraRank: 16,
  budget: 48 * GIB,
  weightBytes: 4,
  ...over,
});

describe('memoryPlan', () => {
  it('counts the weights, and keys and values a token', () => {
    expect(weightCount(LLAMA_3B)).toBe(3212749824);
    expect(kvBytesPerToken(LLAMA_3B)).toBe(2 * 4 * 28 * 8 * 128);
    expect(memoryPlan(LLAMA_3B, options({})).weights).toBe(4 * 3212749824);
  });

  it('counts frozen weights of 16 bits by half, and the largest matrix once more in float32', () => {
    expect(memoryPlan(LLAMA_3B, options({ weightBytes: 2 })).weights).toBe(2 * 3212749824 + 4 * 128256 * 3072);
    expect(precisionWithin(3212749824, 24 * GIB)).toBe('float32');
    expect(precisionWithin(3212749824, 12 * GIB)).toBe('bfloat16');
  });

  it('counts adapters of rank r with gradient and moments, or all weights three times', () => {
    // (in + out) of the seven linear layers of a block: 6144 + 4096 * 2 + 6144 + 11264 * 3.
    expect(memoryPlan(LLAMA_3B, options({})).optimiser).toBe(16 * 16 * 28 * 54272);
    expect(memoryPlan(LLAMA_3B, options({ loraRank: null })).optimiser).toBe(12 * 3212749824);
  });

  it('shares a prompt between the rows of its group', () => {
    const shape = { promptTokens: 1000, completionTokens: 0, group: 16 };
    const logits = 12 * 128256;
    expect(cacheBytes(LLAMA_3B, shape, 16) - 16 * logits).toBe(1000 * kvBytesPerToken(LLAMA_3B));
    expect(cacheBytes(LLAMA_3B, shape, 17) - 17 * logits).toBe(2000 * kvBytesPerToken(LLAMA_3B));
  });

  it('takes fewer completions at a time where memory is short, and says when one is too many', () => {
    const long = { promptTokens: 1600, completionTokens: 1500 };
    const roomy = memoryPlan(LLAMA_3B, options({ ...long, budget: 200 * GIB }));
    expect(roomy).toMatchObject({ sampled: 16, trained: 16, fits: true });
    const tight = memoryPlan(LLAMA_3B, options({ ...long, budget: 18 * GIB }));
    expect(tight.fits).toBe(true);
    expect(tight.trained).toBeLessThan(16);
    expect(tight.trained).toBeGreaterThanOrEqual(1);
    expect(memoryPlan(LLAMA_3B, options({ ...long, budget: 12 * GIB }))).toMatchObject({
      sampled: 1,
      trained: 1,
      fits: false,
    });
  });
});

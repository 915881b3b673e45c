import { describe, expect, it } from 'vitest';
import { PLAIN_TRAITS } from '../../../main/model/traits.ts';
import { cutRows, keptLogits, planPass, planRows, tokenCost } from '../../../main/trainer/memory/activations.ts';

const COST = { plain: 1000, checkpointed: 100 };
const BY_KERNEL = { perToken: 0, most: 0 };

describe('planPass', () => {
  it('keeps every activation where they fit', () => {
    expect(planPass(50, 10, COST, 50_000)).toEqual({ checkpointing: false, maxTokens: 50 });
  });

  it('checkpoints a micro-batch that fits only so, in one piece', () => {
    expect(planPass(51, 10, COST, 50_000)).toEqual({ checkpointing: true, maxTokens: 51 });
  });

  it('cuts a larger one into parts that fit without checkpointing', () => {
    expect(planPass(501, 10, COST, 50_000)).toEqual({ checkpointing: false, maxTokens: 50 });
  });

  it('checkpoints the parts where one sequence alone is too long, and never asks for less than a sequence', () => {
    expect(planPass(600, 60, COST, 50_000)).toEqual({ checkpointing: true, maxTokens: 500 });
    expect(planPass(1200, 600, COST, 50_000)).toEqual({ checkpointing: true, maxTokens: 600 });
  });
});

describe('planRows', () => {
  const rows = [{ group: 0, prompt: 40, completion: 60 }];
  const kept = (activation_memory_mb: number): number =>
    planRows(
      rows,
      { plain: 2 ** 20, checkpointed: 1000, head: BY_KERNEL },
      { activation_memory_mb, gradient_checkpointing: null },
    ).keptBytes;

  it('leaves logits what activations leave of the budget, and at most 256 MiB', () => {
    expect([100, 130, 1000].map(kept)).toEqual([0, 30 * 2 ** 20, 256 * 2 ** 20]);
  });

  it('leaves them nothing where a single sequence needs more than the budget', () => {
    const config = { activation_memory_mb: 1, gradient_checkpointing: false };
    expect(planRows(rows, { plain: 2 ** 20, checkpointed: 1000, head: BY_KERNEL }, config).keptBytes).toBe(0);
  });

  it("counts a head's tensors besides, of all that it predicts from or of a part at most", () => {
    const cost = { plain: 1000, checkpointed: 1000, head: { perToken: 2000, most: 100_000 } };
    const plan = (megabytes: number, completion: number) =>
      planRows(
        [
          { group: 0, prompt: 40, completion },
          { group: 0, prompt: 40, completion },
        ],
        cost,
        { activation_memory_mb: megabytes, gradient_checkpointing: null },
      );
    expect([plan(1, 20).bytes, plan(1, 60).bytes]).toEqual([80_000 + 80_000, 160_000 + 100_000]);
    expect(plan(1, 20).keptBytes).toBe(0);
    // Of 200,000 bytes, half is the head's.
    expect(plan(200_000 / 2 ** 20, 60).parts).toEqual([
      { first: 0, end: 1 },
      { first: 1, end: 2 },
    ]);
  });

  it('counts kept logits whole or not at all', () => {
    expect([79, 80].map((keptBytes) => keptLogits(keptBytes, 2, 10))).toEqual([0, 80]);
  });
});

describe('cutRows', () => {
  const row = (group: number, completion = 10, prompt = 20) => ({ group, completion, prompt });

  it('counts a prompt once for the rows of its group that lie together', () => {
    const rows = [row(0), row(0), row(1), row(1)];
    expect(cutRows(rows, 80)).toEqual([{ first: 0, end: 4 }]);
    expect(cutRows(rows, 79)).toEqual([
      { first: 0, end: 3 },
      { first: 3, end: 4 },
    ]);
  });

  it('reads a prompt again in the next part of its group', () => {
    const rows = [row(0), row(0), row(0)];
    expect(cutRows(rows, 40)).toEqual([
      { first: 0, end: 2 },
      { first: 2, end: 3 },
    ]);
  });

  it('gives a row that is too long a part of its own', () => {
    expect(cutRows([row(0, 100), row(1, 1)], 50)).toEqual([
      { first: 0, end: 1 },
      { first: 1, end: 2 },
    ]);
    expect(cutRows([], 50)).toEqual([]);
  });
});

describe('tokenCost', () => {
  const sizes = { hiddenSize: 128, intermediateSize: 256, numLayers: 4, headDim: 32, numHeads: 4, numKvHeads: 4 };
  const config = { ...PLAIN_TRAITS, ...sizes };

  it('counts the floats of a layer', () => {
    // 6*128 + 2*128 + 2*128 + 3*256 = 2048 floats a layer, 4 layers of 4 bytes, 1.2 at the peak.
    const cost = tokenCost(config as Parameters<typeof tokenCost>[0]);
    expect(cost.plain).toBeCloseTo(4 * 4 * 2048 * 1.2, 6);
    expect(cost.checkpointed).toBeCloseTo(4 * (2 * 4 * 128 + 2048 * 1.2), 6);
  });

  it.each([
    ['norms after attention and MLP', { norms: 'both' }, 2 * 128],
    ['factors of what is added', { residualScale: 0.5 }, 2 * 128],
    ['biases of the MLP', { mlpBias: true }, 2 * 256 + 128],
    ['norms of queries and keys', { qkNorm: true }, 256],
    ['heads that are rotated in part', { rotaryDim: 24 }, 256],
    ['gates of what heads attend to', { outputGate: 'values' }, 2 * 128],
    ['gates of whole heads', { outputGate: 'heads' }, 128],
  ] as const)('counts %s', (_, traits, floats) => {
    const cost = tokenCost({ ...config, ...traits } as Parameters<typeof tokenCost>[0]);
    expect(cost.plain).toBeCloseTo(4 * 4 * (2048 + floats) * 1.2, 6);
  });
});

describe('tokenCost of a head', () => {
  const head = (logitsCap: number | null) =>
    tokenCost({ ...PLAIN_TRAITS, numLayers: 0, logitsCap, vocabSize: 2 ** 18 } as Parameters<typeof tokenCost>[0]).head;

  it("counts capped logits, of 32 tokens of Gemma's vocabulary at a time", () => {
    expect(head(30)).toEqual({ perToken: 6 * 2 ** 20, most: 32 * 6 * 2 ** 20 });
    expect(head(null)).toEqual(BY_KERNEL);
  });
});

describe('tokenCost of layers that recur', () => {
  const sizes = { hiddenSize: 64, intermediateSize: 96, numLayers: 1, headDim: 16, numHeads: 4, numKvHeads: 4 };
  const cost = (recurrent: object) =>
    tokenCost({ ...PLAIN_TRAITS, ...sizes, recurrent } as unknown as Parameters<typeof tokenCost>[0]).plain;

  it('counts what the gradient keeps of them, where a kernel computes each mixer in one go', () => {
    const common = 6 * 64 + 3 * 96;
    const short = { mixer: 'short-convolution', layers: [0], taps: 3, bias: false };
    expect(cost(short)).toBeCloseTo(4 * 1.2 * (common + 6 * 64), 6);
    const heads = { keyHeads: 2, keyDim: 8, valueHeads: 4, valueDim: 12 };
    // Twice queries, keys and values of 16, 16 and 48, four times values, and two numbers a head.
    const delta = { mixer: 'gated-delta', layers: [0], taps: 4, ...heads };
    expect(cost(delta)).toBeCloseTo(4 * 1.2 * (common + 2 * 80 + 4 * 48 + 2 * 4), 6);
    const mamba = { mixer: 'mamba', layers: [0], taps: 4, groups: 1, heads: 4, headDim: 8, stateDim: 6 };
    // Twice the projection of 32, 44 and 4, the convolution's, and three times the heads; what plain ops pass through.
    expect(cost(mamba)).toBeCloseTo(4 * (1.2 * (common + 2 * 80 + 44 + 3 * 32 + 4) + 52 * 32), 6);
  });
});

describe('planPass with gradient_checkpointing set', () => {
  it('does as asked and still keeps to the budget', () => {
    expect(planPass(600, 10, COST, 50_000, false)).toEqual({ checkpointing: false, maxTokens: 50 });
    expect(planPass(600, 10, COST, 50_000, true)).toEqual({ checkpointing: true, maxTokens: 500 });
    expect(planPass(20, 10, COST, 50_000, true)).toEqual({ checkpointing: true, maxTokens: 20 });
  });
});

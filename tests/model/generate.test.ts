import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forward } from '../../main/model/decoder.ts';
import { type GenerateOptions, generate } from '../../main/model/generate.ts';
import { createAdapter, disposeAdapter } from '../../main/model/lora.ts';
import { disposeModel, type Model } from '../../main/model/model.ts';
import { packedSequences } from '../../main/model/sequences.ts';
import { openTestBackends } from '../backends.ts';
import { chiSquare } from '../chi-square.ts';
import { fault } from './faults.ts';
import { tinyModel } from './tiny.ts';

const GREEDY: GenerateOptions = {
  numGenerations: 1,
  maxNewTokens: 12,
  eosTokenIds: [],
  coordinates: [1, 2],
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: null,
  repetitionPenalty: 1,
};
const SAMPLED: GenerateOptions = { ...GREEDY, temperature: 1, numGenerations: 3 };
const PROMPTS = [[5, 9, 33], [7], [60, 61, 62, 63, 64, 65, 66]];

/** Logits after a sequence, read whole. */
function lastLogits(model: Model, ids: readonly number[]): Float32Array {
  return tf.tidy(() => {
    const batch = {
      ids: tf.tensor1d([...ids], 'int32'),
      positions: tf.tensor1d([...ids.keys()], 'int32'),
    };
    const segments = tf.tensor2d([[0, ids.length, 0, 0]], [1, 4], 'int32');
    const hidden = forward(model, batch, null, packedSequences(model.config, segments));
    const last = tf.slice(hidden, [ids.length - 1, 0], [1, -1]);
    return tf.matMul(last, model.head.value, false, true).dataSync<'float32'>();
  });
}

describe.each(await openTestBackends())('generate on $name', (backend) => {
  let model: Model;
  /** What all tests compare with. */
  let sampled: (readonly number[])[];
  beforeAll(async () => {
    await backend.use();
    model = tinyModel();
    sampled = ids(SAMPLED);
  });
  afterAll(() => disposeModel(model));
  const ids = (options: GenerateOptions, prompts = PROMPTS) =>
    generate(model, null, prompts, options).map((completion) => completion.ids);

  it('picks, greedily, the same tokens as a full forward pass', () => {
    ids(GREEDY).forEach((completion, p) => {
      const sequence = [...(PROMPTS[p] ?? [])];
      for (const id of completion) {
        const logits = lastLogits(model, sequence);
        expect(id).toBe(logits.indexOf(Math.max(...logits)));
        sequence.push(id);
      }
      expect(completion).toHaveLength(12);
    });
  });

  it('samples the same completions a few at a time, across the borders of groups', () => {
    const rows: number[] = [];
    expect(ids({ ...SAMPLED, inBatches: (work) => work(2), onRow: (row) => void rows.push(row) })).toEqual(sampled);
    expect(ids({ ...SAMPLED, inBatches: (work) => work(4) })).toEqual(sampled);
    expect(new Set(rows).size).toBe(PROMPTS.length * SAMPLED.numGenerations);
  });

  it('ends a completion with the token that a test of its text names', () => {
    const stops: GenerateOptions['stops'] = (prompt, own) => own.length === prompt.length;
    const made = generate(model, null, PROMPTS, { ...GREEDY, maxNewTokens: 6, stops });
    expect(made.map(({ ids: own }) => own.length)).toEqual([3, 1, 6]);
    expect(made.map(({ terminated }) => terminated)).toEqual([true, true, false]);
  });

  it('refuses a model whose logits are not finite, by the prompt, and keeps nothing of it', () => {
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, 3e38]) {
      const value = tf.fill(model.head.value.shape, bad) as tf.Tensor2D;
      const broken = { ...model, head: { ...model.head, value } };
      const before = tf.memory().numTensors;
      const asked = () => generate(broken, null, PROMPTS, { ...SAMPLED, inBatches: (work) => work(4) });
      expect(asked).toThrow('logits after prompt 1 are not finite');
      expect(tf.memory().numTensors).toBe(before);
      value.dispose();
    }
  });

  it('ends a row at the first of several end tokens, which it keeps', () => {
    const free = ids(GREEDY);
    const eosTokenIds = [free[0]?.[4] ?? -1, free[1]?.[7] ?? -1];
    const cut = free.map((row) => {
      const end = row.findIndex((id) => eosTokenIds.includes(id));
      return end < 0 ? row : row.slice(0, end + 1);
    });
    const ended = generate(model, null, PROMPTS, { ...GREEDY, eosTokenIds });
    expect(ended.map((completion) => completion.ids)).toEqual(cut);
    expect(ended.map(({ terminated }) => terminated)).toEqual(cut.map((row) => eosTokenIds.includes(row.at(-1) ?? -1)));
    expect(cut.some((row) => row.length < 12)).toBe(true);
  });

  it('lets finished rows leave without changing the others', () => {
    // A row of each prompt, where a GPU that the processor plays takes its time.
    const stops = sampled.map((row) => row[5] ?? -1).filter((_, i) => !backend.slow || i % 3 === 0);
    for (const stop of stops) {
      ids({ ...SAMPLED, eosTokenIds: [stop] }).forEach((row, i) => {
        const end = sampled[i]?.indexOf(stop) ?? -1;
        expect(row).toEqual(end < 0 ? sampled[i] : sampled[i]?.slice(0, end + 1));
      });
    }
  });

  it('counts the rows in flight', () => {
    const free = ids(GREEDY);
    const seen: number[][] = [];
    const eosTokenIds = [free[0]?.[0] ?? -1];
    generate(model, null, PROMPTS.slice(0, 2), { ...GREEDY, eosTokenIds, onToken: (...both) => seen.push(both) });
    // A heartbeat for each layer of the prefill, then the tokens.
    expect(seen[0]).toEqual([0, 2]);
    expect(seen.find(([done]) => done !== 0)).toEqual([1, free[1]?.[0] === eosTokenIds[0] ? 0 : 1]);
  });

  it("passes on each row's tokens as they are sampled", () => {
    const rows: number[][] = [[], [], []];
    const completions = ids({ ...GREEDY, onRow: (row, id) => rows[row]?.push(id) });
    expect(rows).toEqual(completions);
  });

  it('gives the same for the same coordinates, and other tokens for others', () => {
    expect(ids(SAMPLED)).toEqual(sampled);
    expect(ids({ ...SAMPLED, coordinates: [1, 3] })).not.toEqual(sampled);
  });

  it("gives a prompt's completions independent of the other prompts", () => {
    const alone = ids(SAMPLED, PROMPTS.slice(0, 1));
    expect(sampled.slice(0, 3)).toEqual(alone);
  });

  it('gives different completions to the members of a group', () => {
    const [a, b, c] = sampled;
    expect(a).not.toEqual(b);
    expect(b).not.toEqual(c);
  });

  it('samples alike through the kernel and through the processors', () => {
    // A penalty a hair above 1 takes the other way without moving a probability.
    expect(ids({ ...SAMPLED, repetitionPenalty: 1 + 1e-9 })).toEqual(sampled);
  });

  it('keeps to top-k', () => {
    const logits = lastLogits(model, PROMPTS[1] ?? []);
    const best = [...logits.keys()].sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0)).slice(0, 3);
    const firsts = ids({ ...SAMPLED, topK: 3, numGenerations: 40, maxNewTokens: 1 }, [PROMPTS[1] ?? []]).flat();
    expect(firsts.every((id) => best.includes(id))).toBe(true);
    expect(new Set(firsts).size).toBeGreaterThan(1);
  });

  it('draws first tokens by the softmax of the logits', () => {
    const logits = lastLogits(model, PROMPTS[0] ?? []);
    const weights = [...logits].map((x) => Math.exp(x / 0.7));
    const sum = weights.reduce((a, b) => a + b);
    const draws = 4000;
    const options = { ...SAMPLED, temperature: 0.7, numGenerations: draws, maxNewTokens: 1 };
    const firsts = ids(options, [PROMPTS[0] ?? []]).flat();
    // Tokens that are expected less than five times are counted together.
    const expected = weights.map((w) => (draws * w) / sum);
    const common = [...expected.keys()].filter((id) => (expected[id] ?? 0) >= 5);
    const counts = common.map((id) => firsts.filter((other) => other === id).length);
    const means = common.map((id) => expected[id] ?? 0);
    counts.push(draws - counts.reduce((a, b) => a + b, 0));
    means.push(draws - means.reduce((a, b) => a + b, 0));
    // Mean k and deviation sqrt(2k): four deviations above the mean.
    expect(chiSquare(counts, means)).toBeLessThan(common.length + 4 * Math.sqrt(2 * common.length));
  });

  it('generates nothing when nothing is asked', () => {
    expect(ids(SAMPLED, [])).toEqual([]);
    expect(ids({ ...GREEDY, maxNewTokens: 0 })).toEqual([[], [], []]);
  });

  it('leaves no tensors, even if a listener throws', () => {
    const adapter = createAdapter(model, { r: 2, alpha: 4, targetModules: ['k_proj', 'v_proj'], useRslora: false }, 1);
    const before = tf.memory().numTensors;
    const stop = sampled[0]?.[3] ?? -1;
    generate(model, adapter, PROMPTS, { ...SAMPLED, eosTokenIds: [stop] });
    generate(model, null, PROMPTS, { ...SAMPLED, topP: 0.8, maxNewTokens: 0 });
    const failing = (): never => {
      throw new Error('stop');
    };
    expect(() => ids({ ...SAMPLED, onToken: failing })).toThrow('stop');
    expect(tf.memory().numTensors).toBe(before);
    disposeAdapter(adapter);
  });

  it('rejects an empty prompt and one too long for the model', () => {
    expect(fault(() => ids(GREEDY, [[1], []]))).toEqual(['EMPTY_PROMPT', expect.stringContaining('prompt 2')]);
    const long = Array<number>(60).fill(1);
    expect(fault(() => ids(GREEDY, [long]))).toEqual(['CONTEXT_TOO_SHORT', expect.stringContaining('60 tokens')]);
  });
});

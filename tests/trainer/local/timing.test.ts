import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it, vi } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { disposeModel, modelParameters } from '../../../main/model/model.ts';
import {
  attentionKinds,
  cutGroups,
  lineLike,
  passLine,
  timeDecoding,
  timePasses,
  workOf,
} from '../../../main/trainer/local/timing.ts';
import { openTestBackends } from '../../backends.ts';
import { tinyModel } from '../../model/tiny.ts';

const ids = (length: number): number[] => Array.from({ length }, (_, i) => 3 + (i % 90));
const group = (prompt: number, ...completions: number[]) => ({
  promptIds: ids(prompt),
  completions: completions.map(ids),
});
const sizes = (groups: ReturnType<typeof cutGroups>): number[][] =>
  groups.map(({ promptIds, completions }) => [promptIds.length, ...completions.map(({ length }) => length)]);

describe('cutGroups', () => {
  const groups = [group(10, 5, 5, 5), group(10, 5, 5)];

  it('takes whole groups while they fit, then the rows of the next one that do', () => {
    expect(sizes(cutGroups(groups, 100))).toEqual([
      [10, 5, 5, 5],
      [10, 5, 5],
    ]);
    expect(sizes(cutGroups(groups, 36))).toEqual([
      [10, 5, 5, 5],
      [10, 5],
    ]);
    expect(sizes(cutGroups(groups, 18))).toEqual([[10, 5, 5]]);
  });

  it('shortens prompt and completion alike where one row is too long', () => {
    expect(sizes(cutGroups([group(1000, 500, 500)], 150))).toEqual([[100, 50]]);
  });
});

describe('passLine', () => {
  it('separates what a pass costs by itself from what grows with it', () => {
    // 0.2 s and 0.01 s each: a pass of 16 extrapolated alone would be twice too long at 160.
    const line = passLine({ products: 16, seconds: 0.36 }, { products: 48, seconds: 0.68 });
    expect(line.fixed).toBeCloseTo(0.2, 12);
    expect(line.fixed + 160 * line.perProduct).toBeCloseTo(1.8, 12);
  });

  it('goes through the longer pass, whatever the shorter one was disturbed by', () => {
    for (const seconds of [0.01, 0.5, 3]) {
      const { fixed, perProduct } = passLine({ products: 16, seconds }, { products: 48, seconds: 1 });
      expect(fixed + 48 * perProduct).toBeCloseTo(1, 12);
      expect(fixed).toBeGreaterThanOrEqual(0);
      expect(perProduct).toBeGreaterThanOrEqual(0.4 / 48);
    }
  });

  it('goes through zero where there is one pass only', () => {
    const pass = { products: 10, seconds: 2 };
    expect(passLine(pass, pass)).toEqual({ fixed: 0, perProduct: 0.2 });
  });
});

describe('lineLike', () => {
  it('gives one pass the shape that two passes of another kind have', () => {
    // Without a gradient 0.2 s and 0.01 s each, with one twice that: a pass of 48 alone says nothing of its 0.4 s.
    const other = passLine({ products: 16, seconds: 0.36 }, { products: 48, seconds: 0.68 });
    const line = lineLike(other, { products: 48, seconds: 1.36 });
    expect(line.fixed).toBeCloseTo(0.4, 12);
    expect(line.fixed + 160 * line.perProduct).toBeCloseTo(3.6, 12);
  });
});

describe('workOf', () => {
  it('counts multiplications by weights, and the pairs of attention, of a prompt once', () => {
    const model = tinyModel();
    const { vocabSize, hiddenSize } = model.config;
    const head = vocabSize * hiddenSize;
    const weights = modelParameters(model).reduce((sum, { value }) => sum + value.size, 0);
    const block = weights - 2 * head;
    // 10 + 4 + 4 tokens; 10 predictions; a triangle for the prompt, a rectangle and a triangle for each completion.
    expect(workOf(model.config, [group(10, 5, 5)])).toEqual({
      products: 18 * block + 10 * head,
      pairs: 55 + 2 * (40 + 10),
    });
    disposeModel(model);
  });
});

describe('attentionKinds', () => {
  it('times layers with a window apart, where the text is longer than it', () => {
    const gemma = { recurrent: null, wideHeads: null, numLayers: 6, window: 16, windowLayers: [0, 1, 2, 3, 4] };
    expect(attentionKinds(gemma, 17)).toEqual([
      { layer: 5, count: 1 },
      { layer: 0, count: 5 },
    ]);
    expect(attentionKinds(gemma, 16)).toEqual([{ layer: 0, count: 6 }]);
    const wideHeads = { headDim: 16, numKvHeads: 1, keysAreValues: false };
    expect(attentionKinds({ ...gemma, wideHeads }, 16)).toHaveLength(2);
    expect(attentionKinds({ ...gemma, windowLayers: [0, 1, 2, 3, 4, 5] }, 17)).toEqual([{ layer: 0, count: 6 }]);
    expect(attentionKinds({ ...gemma, numLayers: 2, window: null, windowLayers: [] }, 17)).toEqual([
      { layer: 0, count: 2 },
    ]);
  });
});

for (const backend of await openTestBackends()) {
  describe(`timing on ${backend.name}`, () => {
    it('grows with the work and leaves no tensors', async () => {
      await backend.use();
      const model = tinyModel();
      const before = tf.memory().numTensors;
      const policy = { model, adapter: null };
      const times = timePasses(policy, modelParameters(model), [group(10, 8, 8)], 1, false);
      const [one, ten] = [1, 10].map((n) =>
        workOf(
          model.config,
          Array.from({ length: n }, () => group(10, 8, 8)),
        ),
      );
      expect(times.forward(one ?? { products: 0, pairs: 0 })).toBeGreaterThan(0);
      expect(times.training(ten ?? { products: 0, pairs: 0 })).toBeGreaterThan(
        times.training(one ?? { products: 0, pairs: 0 }),
      );
      const prompts = [
        { tokens: 10, rows: 2 },
        { tokens: 7, rows: 1 },
      ];
      expect(timeDecoding(policy, { prompts, steps: 20, capacity: 20 })).toBeGreaterThan(0);
      expect(timeDecoding(policy, { prompts, steps: 1, capacity: 20 })).toBeGreaterThan(0);
      // Answers of a word leave room for hardly more than the prompt.
      const full = [{ tokens: model.maxLength - 2, rows: 2 }];
      expect(timeDecoding(policy, { prompts: full, steps: 2, capacity: 2 })).toBeGreaterThan(0);
      expect(tf.memory().numTensors).toBe(before);
      disposeModel(model);
    });

    it('leaves no tensors of decoding that memory has no room for', async () => {
      await backend.use();
      const model = tinyModel();
      const before = tf.memory().numTensors;
      const shape = { prompts: [{ tokens: 10, rows: 2 }], steps: 4, capacity: 8 };
      // Within the prompts' keys and values (two layers, four tensors), and after them.
      for (const last of [3, 5]) {
        const engine = tf.engine();
        const makeTensor = engine.makeTensor.bind(engine);
        let count = 0;
        const made = vi.spyOn(engine, 'makeTensor').mockImplementation((...args) => {
          if (++count === last) throw new BraidError('OUT_OF_MEMORY', 'no room');
          return makeTensor(...args);
        });
        expect(() => timeDecoding({ model, adapter: null }, shape)).toThrow('no room');
        made.mockRestore();
        expect(tf.memory().numTensors).toBe(before);
      }
      disposeModel(model);
    });
  });
}

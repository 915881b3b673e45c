import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { generate } from '../../../main/model/generate.ts';
import { disposeModel } from '../../../main/model/model.ts';
import { UNFILTERED } from '../../../main/model/sampler.ts';
import type { TurnTaking } from '../../../main/model/turns.ts';
import type { Completion } from '../../../main/samples/completion.ts';
import { readsInPlace } from '../../../main/tensor/ops/decode-attention.ts';
import { generateWithin, sampleWithin } from '../../../main/trainer/memory/generate-within.ts';
import { cacheBytes } from '../../../main/trainer/memory/plan.ts';
import { withinMemory } from '../../../main/trainer/memory/within-memory.ts';
import { openTestBackends } from '../../backends.ts';
import { tinyModel } from '../../model/tiny.ts';

const PROMPTS = [[3, 4, 5], [6, 7], [8]];
const OPTIONS = {
  numGenerations: 3,
  maxNewTokens: 6,
  eosTokenIds: [2],
  coordinates: [1],
  temperature: 1,
  ...UNFILTERED,
};

for (const backend of await openTestBackends()) {
  describe(`generateWithin on ${backend.name}`, () => {
    it('gives the same numbers in small parts as in one, and never more rows at a time than fit', async () => {
      await backend.use();
      const model = tinyModel();
      const policy = { model, adapter: null };
      const whole = generateWithin(policy, PROMPTS, 1024, OPTIONS);
      const bytes = cacheBytes(model.config, { promptTokens: 3, completionTokens: 6, group: 3 }, 2);
      let most = 0;
      const onToken = (_done: number, active: number): void => {
        most = Math.max(most, active);
      };
      expect(generateWithin(policy, PROMPTS, bytes / 2 ** 20, { ...OPTIONS, onToken })).toEqual(whole);
      expect(most).toBe(2);
      disposeModel(model);
    });

    it('counts on what was read of a completion twice where it has turns and its rows move, and once where they stay', async () => {
      await backend.use();
      const model = tinyModel();
      const prompts = PROMPTS.map(([id = 0]) => new Array<number>(12).fill(id));
      const shape = { promptTokens: 12, completionTokens: 6, group: 1 };
      const moved = cacheBytes(model.config, { ...shape, prefixes: 2 }, 9);
      expect(cacheBytes(model.config, shape, 10)).toBeLessThan(moved);
      const stay = readsInPlace();
      // Two groups that share their prompt's.
      const bytes = stay ? cacheBytes(model.config, { ...shape, group: 4 }, 8) : moved;
      let most = 0;
      const onToken = (_done: number, active: number): void => {
        most = Math.max(most, active);
      };
      const turns: TurnTaking = { maxTurnTokens: 6, later: false, answer: (ended) => ended.map(() => null) };
      const options = { ...OPTIONS, numGenerations: 4, turns, onToken };
      await sampleWithin({ model, adapter: null }, prompts, bytes / 2 ** 20, options);
      expect(most).toBe(stay ? 8 : 9);
      disposeModel(model);
    });

    it('gives them again after a batch failed for memory, and keeps no tensor of it', async () => {
      await backend.use();
      const model = tinyModel();
      const whole = generate(model, null, PROMPTS, OPTIONS);
      const before = tf.memory().numTensors;
      const sizes: number[] = [];
      const onToken = (done: number, active: number): void => {
        if (done === 2 && active > 2) throw new BraidError('OUT_OF_MEMORY', 'no room');
      };
      const inBatches = (work: (maxRows: number) => Completion[]): Completion[] => {
        const owner = {};
        return withinMemory(owner, 64, (megabytes) => {
          sizes.push(megabytes / 16);
          return work(megabytes / 16);
        });
      };
      expect(generate(model, null, PROMPTS, { ...OPTIONS, onToken, inBatches })).toEqual(whole);
      expect(sizes).toContain(4);
      expect(sizes.filter((rows) => rows === 2).length).toBeGreaterThan(1);
      expect(tf.memory().numTensors).toBe(before);
      disposeModel(model);
    });
  });
}

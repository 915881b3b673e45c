import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Adapter, createAdapter, disposeAdapter, ownTargets } from '../../main/model/lora.ts';
import { disposeModel, type Model } from '../../main/model/model.ts';
import { readPrompts } from '../../main/model/prefill.ts';
import { openTurnRows } from '../../main/model/turn-rows.ts';
import type { Unread } from '../../main/model/turns.ts';
import { openTestBackends } from '../backends.ts';
import { randomTensor } from '../tensor/ops/finite-differences.ts';
import { tinyModel } from './tiny.ts';

const PROMPTS = [[5, 9, 33], [7], [60, 61, 62, 63, 64, 65, 66]];
const GROUP = 20;
/** What the first row reads, step by step. */
const READ = [[4], [8], [15, 16, 23, 42, 3, 9], [11]];
const LORA = { r: 4, alpha: 64, useRslora: false } as const;

describe.each(await openTestBackends())('openTurnRows on $name', (backend) => {
  let model: Model;
  let adapter: Adapter;
  beforeAll(async () => {
    await backend.use();
    model = tinyModel();
    adapter = createAdapter(model, { ...LORA, targetModules: ownTargets(model, ['q_proj', 'v_proj', 'down_proj']) }, 1);
    // An adapter begins with zeros.
    [...adapter.modules.values()].forEach(({ b }, i) => {
      b.value.dispose();
      b.value = randomTensor<tf.Rank.R2>(b.value.shape, i);
    });
  });
  afterAll(() => {
    disposeAdapter(adapter);
    disposeModel(model);
  });

  /** The first row's logits after all of each step's tokens, while others read what they are given. */
  function follow(othersOf: (step: number) => readonly Unread[]): Float32Array[] {
    const { kept, places, logits } = readPrompts(model, adapter, PROMPTS, () => undefined);
    logits.dispose();
    const after = places.flatMap((place) => Array.from({ length: GROUP }, () => place));
    const rows = openTurnRows(model, adapter, kept, after, { capacity: 40, alone: true, isDone: () => false });
    try {
      return READ.map((ids, step) => {
        const others = othersOf(step);
        for (let left = [...ids]; ; ) {
          const { counts, logits } = rows.read([{ row: 0, ids: left }, ...(left.length === ids.length ? others : [])]);
          left = left.slice(counts[0]);
          const own = logits?.dataSync<'float32'>().slice(0, logits.shape[1]);
          logits?.dispose();
          if (left.length === 0 && own !== undefined) return own;
        }
      });
    } finally {
      rows.dispose();
    }
  }

  // Copied rows are those of turns.test.ts.
  it.skipIf(backend.slow || backend.name === 'cpu')(
    "reads a row's tokens alike whoever reads with it, and leaves nothing behind",
    () => {
      const before = tf.memory().numTensors;
      const alone = follow(() => []);
      const someOf = (count: number, length: number) => (step: number) =>
        Array.from({ length: count }, (_, i) => ({
          row: 1 + ((7 * step + i) % (3 * GROUP - 1)),
          ids: Array.from({ length }, (_, at) => 10 + i + at),
        })).sort((a, b) => a.row - b.row);
      for (const others of [
        someOf(1, 1),
        someOf(11, 3),
        someOf(58, 1),
        (step: number) => someOf(9 * (step % 2), 9)(step),
      ])
        follow(others).forEach((logits, step) => {
          if (['wasm', 'native'].includes(backend.name)) expect(logits).toEqual(alone[step]);
          else logits.forEach((value, i) => void expect(value).toBeCloseTo(alone[step]?.[i] ?? 0, 4));
        });
      expect(tf.memory().numTensors).toBe(before);
    },
  );
});

import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, it } from 'vitest';
import { BraidError } from '../../../main/errors.ts';
import { runScoreJob, type ScoreResult } from '../../../main/trainer/jobs/score.ts';
import { openTiny } from '../run/tiny-run.ts';

const { model } = await openTiny();

/** Scores 40 completions of different prompts; `alive` is called after each batch. */
function score(alive: () => void): Promise<ScoreResult> {
  const lines = Array.from({ length: 40 }, (_, i) => ({
    ...{ id: `line-${i}`, line: i + 1, prompt: [3 + (i % 5), 4, 5] },
    completion: Array.from({ length: 1 + (i % 7) }, (_, t) => 3 + ((i + t) % 6)),
  }));
  return runScoreJob(
    {
      kind: 'score',
      model: { base: model, adapter: null, tokenizer: model },
      file: 'lines.jsonl',
      lines,
      backend: 'wasm',
      threads: 1,
      kernelsFile: '',
    },
    {
      backend: { name: 'wasm', threads: 1 },
      progress: async () => undefined,
      alive,
      text: () => undefined,
      messages: () => undefined,
    },
  );
}
const noRoom = (): never => {
  throw new BraidError('OUT_OF_MEMORY', 'no room');
};

describe('runScoreJob', () => {
  it('gives the same numbers after memory ran out, and keeps no tensor', async () => {
    const whole = await score(() => undefined);
    const before = tf.memory().numTensors;
    let failures = 0;
    const again = await score(() => {
      if (failures === 0) {
        failures += 1;
        noRoom();
      }
    });
    expect(failures).toBe(1);
    expect(again).toEqual(whole);
    expect(whole.items.every(({ logprobs }) => logprobs.every((nats) => nats < 0))).toBe(true);
    expect(tf.memory().numTensors).toBe(before);
  });

  it('says that memory ran out where even the smallest parts are too large', async () => {
    const before = tf.memory().numTensors;
    await expect(score(noRoom)).rejects.toMatchObject({ code: 'OUT_OF_MEMORY' });
    expect(tf.memory().numTensors).toBe(before);
  });
});

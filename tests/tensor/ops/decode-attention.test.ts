import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { type AttentionShape, packedAttention } from '../../../main/tensor/ops/attention.ts';
import { openKvCache } from '../../../main/tensor/ops/decode-attention.ts';
import { openTestBackends } from '../../backends.ts';
import { randomTensor } from './finite-differences.ts';

const SHAPE: AttentionShape = { numHeads: 4, numKvHeads: 2, headDim: 8, scale: 8 ** -0.5 };
/** Two prompts, of 3 and 1 tokens; rows 0 and 1 follow the first, row 2 the second. */
const ROWS = [
  { start: 0, length: 3 },
  { start: 0, length: 3 },
  { start: 3, length: 1 },
];

/** The step's q, k and v of the given rows. */
function stepOf(step: number, rows: readonly number[]): [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D] {
  const pick = (width: number, seed: number): tf.Tensor2D =>
    tf.gather(randomTensor<tf.Rank.R2>([ROWS.length, width], 10 * step + seed), [...rows]);
  return [pick(32, 1), pick(16, 2), pick(16, 3)];
}

/** The same row by packed attention over its whole sequence; the last token's output. */
function packed(prefix: { k: tf.Tensor2D; v: tf.Tensor2D }, row: number, steps: number, prompts = ROWS): Float32Array {
  const { start, length } = prompts[row] ?? { start: 0, length: 0 };
  const own = Array.from({ length: steps }, (_, step) => stepOf(step, [row]));
  const join = (prompt: tf.Tensor2D, parts: tf.Tensor2D[]): tf.Tensor2D =>
    tf.concat([tf.slice(prompt, [start, 0], [length, -1]), ...parts]);
  const q = tf.concat([tf.zeros([length, 32]), ...own.map(([query]) => query)]) as tf.Tensor2D;
  const [k, v] = [
    join(
      prefix.k,
      own.map(([, key]) => key),
    ),
    join(
      prefix.v,
      own.map(([, , value]) => value),
    ),
  ];
  const segments = tf.tensor2d([[0, length + steps, 0, 0]], [1, 4], 'int32');
  return packedAttention(q, k, v, segments, SHAPE).dataSync<'float32'>().slice(-32);
}

describe.each(await openTestBackends())('openKvCache on $name', (backend) => {
  beforeAll(backend.use);

  it('attends as packed attention does, step by step, for the remaining rows, and frees everything', () => {
    const before = tf.memory().numTensors;
    tf.tidy(() => {
      const prefix = { k: randomTensor<tf.Rank.R2>([4, 16], 71), v: randomTensor<tf.Rank.R2>([4, 16], 72) };
      const taken = [{ k: tf.keep(tf.clone(prefix.k)), v: tf.keep(tf.clone(prefix.v)) }];
      const cache = openKvCache(taken, ROWS, 4, SHAPE);
      let rows = [0, 1, 2];
      for (let step = 0; step < 4; step++) {
        const ours = cache.attend(0, ...stepOf(step, rows)).dataSync<'float32'>();
        rows.forEach((row, i) => {
          const theirs = packed(prefix, row, step + 1);
          const worst = Math.max(...theirs.map((x, j) => Math.abs(x - (ours[i * 32 + j] ?? Number.NaN))));
          expect(worst, `row ${row} at step ${step}`).toBeLessThan(1e-5);
        });
        if (step === 0) {
          cache.keep([0, 2]);
          rows = [0, 2];
        }
        if (step === 2) {
          cache.keep([1]);
          rows = [2];
        }
        cache.advance();
      }
      cache.dispose();
    });
    expect(tf.memory().numTensors - before).toBe(0);
  });

  it('does so after a long prompt beside a short one, before and behind the end of a stretch of keys', () => {
    tf.tidy(() => {
      // Two steps lead beyond 128 keys on a GPU's workgroup, whose stretches then are two, and three with 260.
      const prompts = [
        { start: 0, length: 127 },
        { start: 127, length: 260 },
        { start: 387, length: 1 },
      ];
      const prefix = { k: randomTensor<tf.Rank.R2>([388, 16], 71), v: randomTensor<tf.Rank.R2>([388, 16], 72) };
      for (const rows of [[0, 1, 2], [0]]) {
        const taken = [{ k: tf.keep(tf.clone(prefix.k)), v: tf.keep(tf.clone(prefix.v)) }];
        const own = rows.map((row) => prompts[row] ?? { start: 0, length: 0 });
        const cache = openKvCache(taken, own, 4, SHAPE);
        for (let step = 0; step < 3; step++) {
          const ours = cache.attend(0, ...stepOf(step, rows)).dataSync<'float32'>();
          rows.forEach((row, i) => {
            const theirs = packed(prefix, row, step + 1, prompts);
            const worst = Math.max(...theirs.map((x, j) => Math.abs(x - (ours[i * 32 + j] ?? Number.NaN))));
            expect(worst, `row ${row} at step ${step}`).toBeLessThan(1e-5);
          });
          cache.advance();
        }
        cache.dispose();
      }
    });
  });

  it.each([
    ['as they are', SHAPE, null],
    ['with wider heads', { ...SHAPE, headDim: 6 }, null],
    ['under a window', SHAPE, { window: 2, layers: [0] }],
  ])('keeps nothing of the layers before one that fails, %s', (_, shape, sliding) => {
    const layer = () => ({
      k: randomTensor<tf.Rank.R2>([4, 2 * shape.headDim], 1),
      v: randomTensor<tf.Rank.R2>([4, 2 * shape.headDim], 2),
    });
    const before = tf.memory().numTensors;
    const prefix = [layer(), layer()];
    prefix[1]?.v.dispose();
    expect(() => openKvCache(prefix, ROWS, 4, shape, sliding)).toThrow();
    tf.dispose(prefix.map(({ k, v }) => [k, v]));
    expect(tf.memory().numTensors).toBe(before);
  });

  it('rejects a layer that it has not', () => {
    const cache = openKvCache([], ROWS, 4, SHAPE);
    expect(() => cache.attend(3, ...stepOf(0, [0, 1, 2]))).toThrow('layer 3');
    cache.dispose();
  });
});

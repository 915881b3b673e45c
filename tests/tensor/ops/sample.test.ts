import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { uniform } from '../../../main/random.ts';
import { sampleRows } from '../../../main/tensor/ops/sample.ts';
import { openTestBackends } from '../../backends.ts';
import { chiSquare } from '../../chi-square.ts';

describe.each(await openTestBackends())('sampleRows on $name', (backend) => {
  beforeAll(backend.use);
  const drawn = (rows: number[][], uniforms: number[], temperature = 1): number[] => [
    ...sampleRows(tf.tensor2d(rows), tf.tensor1d(uniforms), temperature).dataSync(),
  ];

  it('inverts the cumulative sum of the softmax', () => {
    const row = [1, 2, 5].map(Math.log);
    expect(drawn([row, row, row, row, row], [0, 0.124, 0.126, 0.374, 0.376])).toEqual([0, 0, 1, 1, 2]);
  });

  it('never leaves the row when rounding makes the uniform 1', () => {
    expect(drawn([[0, 0, -Infinity]], [1])).toEqual([1]);
  });

  it('takes the first maximum at temperature 0', () => {
    expect(drawn([[1, 7, 7, 2]], [0.999], 0)).toEqual([1]);
  });

  it('inverts the sum over a vocabulary of many parts, in the order of the ids', () => {
    const logits = Array.from({ length: 40_001 }, (_, id) => 3 * Math.sin(id) + (id % 7000 === 5 ? 6 : 0));
    // Whole parts without any mass on both sides.
    const row = logits.map((x, id) => (id < 9000 || id > 31_000 ? -1000 : x));
    const weights = row.map((x) => Math.exp(x / 0.8));
    const total = weights.reduce((a, b) => a + b);
    const uniforms = [0, 0.1, 0.35, 0.5, 0.77, 0.999, 1];
    const found = drawn(
      uniforms.map(() => row),
      uniforms,
      0.8,
    );
    const below = (id: number): number => weights.slice(0, id).reduce((a, b) => a + b, 0) / total;
    for (const [i, u] of uniforms.entries()) {
      const id = found[i] ?? -1;
      expect(below(id), `uniform ${u}`).toBeLessThan(u + 1e-5);
      expect(below(id + 1), `uniform ${u}`).toBeGreaterThan(u - 1e-5);
      expect(row[id]).toBeGreaterThan(-100);
    }
    expect(drawn([row], [0.5], 0)).toEqual([row.indexOf(Math.max(...row))]);
  });

  it.each([1, 0.5, 2])('draws with the probabilities of softmax(logits / %d)', (temperature) => {
    const row = [0.3, -1, 1.2, 0, 2];
    const weights = row.map((x) => Math.exp(x / temperature));
    const sum = weights.reduce((a, b) => a + b);
    // A software GPU takes a millisecond for each.
    const draws = backend.name === 'webgpu' ? 4000 : 20_000;
    const rows = Array.from({ length: draws }, () => row);
    const ids = drawn(
      rows,
      Array.from(rows, (_, i) => uniform(5, i)),
      temperature,
    );
    const counts = row.map((_, id) => ids.filter((other) => other === id).length);
    // 4 degrees of freedom: 18.5 is passed once in a thousand times; the draws are always the same.
    expect(
      chiSquare(
        counts,
        weights.map((w) => (draws * w) / sum),
      ),
    ).toBeLessThan(18.5);
  });
});

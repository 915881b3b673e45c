import { describe, expect, it } from 'vitest';
import { randomStream } from '../../../main/random.ts';
import {
  downSamplingMetrics,
  keepRows,
  maxVarianceSubset,
  trainedRows,
} from '../../../main/trainer/batching/down-sampling.ts';

/** The largest variance of any subset, by trying all of them. */
function largestVariance(rewards: readonly number[], size: number): number {
  const subsets = (from: number, left: number): number[][] =>
    left === 0
      ? [[]]
      : rewards.flatMap((_, i) => (i < from ? [] : subsets(i + 1, left - 1).map((rest) => [i, ...rest])));
  return Math.max(...subsets(0, size).map((subset) => varianceOf(subset.map((i) => rewards[i] ?? 0))));
}
function varianceOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
}

describe('maxVarianceSubset', () => {
  it('takes successes and failures in equal numbers where there are enough of both', () => {
    expect(maxVarianceSubset([0, 0, 1, 0, 1, 1, 0, 0], 4)).toEqual([0, 1, 4, 5]);
    // One success among eight: it is always there.
    expect(maxVarianceSubset([0, 0, 0, 0, 0, 1, 0, 0], 4)).toEqual([0, 1, 5, 7]);
    expect(maxVarianceSubset([1, 1, 1, 0, 1, 1, 1, 1], 2)).toEqual([3, 7]);
  });

  it('takes more from the end that lies further out', () => {
    // Of 0, 7, 8, 9, 10, size 3: {0, 9, 10} has mean 19/3 and variance 60.33 / 3 = 20.22 (squares 181/3 − 361/9);
    // {0, 7, 10} 149/3 − 289/9 = 17.56; one high and two low. So one low and two high.
    expect(maxVarianceSubset([8, 0, 10, 7, 9], 3)).toEqual([1, 2, 4]);
    // The mirror image: two low and one high.
    expect(maxVarianceSubset([-8, 0, -10, -7, -9], 3)).toEqual([1, 2, 4]);
  });

  it('has the largest variance of all subsets', () => {
    const stream = randomStream(7);
    for (let trial = 0; trial < 60; trial++) {
      const rewards = Array.from({ length: 3 + stream.below(6) }, () => Math.round(stream.next() * 8) / 8);
      const size = 2 + stream.below(rewards.length - 1);
      const chosen = maxVarianceSubset(rewards, size);
      expect(new Set(chosen).size).toBe(Math.min(size, rewards.length));
      expect(chosen).toEqual(chosen.toSorted((a, b) => a - b));
      if (size <= rewards.length)
        expect(varianceOf(chosen.map((i) => rewards[i] ?? 0))).toBeCloseTo(largestVariance(rewards, size), 12);
    }
  });

  it('sees small differences of large rewards, and keeps an even split where all are equal', () => {
    expect(maxVarianceSubset([1e8, 1e8 + 1, 1e8, 1e8, 1e8], 2)).toContain(1);
    expect(maxVarianceSubset([1, 1, 1, 1, 1, 1], 4)).toEqual([0, 1, 4, 5]);
  });

  it('takes unscored completions only where there are not enough others', () => {
    const nan = Number.NaN;
    expect(maxVarianceSubset([nan, 0.5, nan, 0.1, 0.9], 2)).toEqual([3, 4]);
    expect(maxVarianceSubset([nan, 0.5, nan, 0.1], 3)).toEqual([0, 1, 3]);
    expect(maxVarianceSubset([0.5, 0.1], 2)).toEqual([0, 1]);
  });
});

describe('trainedRows', () => {
  it('chooses within each group', () => {
    expect(trainedRows(Float32Array.of(0, 0.5, 1, 0.5, 3, 3, 2, 3), 4, 2)).toEqual([0, 2, 6, 7]);
  });
});

describe('keepRows', () => {
  it('keeps the rows of completions, texts and every reward, and all prompts', () => {
    const prompts = ['a', 'b'].map((id) => ({ record: { id, prompt: id }, promptIds: [], targetIds: [] }));
    const completions = [1, 2, 3, 4].map((id) => ({ ids: [id], terminated: id > 2 }));
    const rewards = [
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ];
    const kept = keepRows(
      { prompts, completions, texts: ['p', 'q', 'r', 's'], failures: [null, 'bad', null, null], rewards },
      [1, 2],
    );
    expect(kept).toEqual({
      prompts,
      completions: [completions[1], completions[2]],
      texts: ['q', 'r'],
      failures: ['bad', null],
      rewards: [
        [1, 2],
        [5, 6],
      ],
    });
  });
});

describe('downSamplingMetrics', () => {
  it('averages the spread of groups, without those that have none', () => {
    expect(downSamplingMetrics([0.2, 0.4, Number.NaN], [0.5, 0.7, Number.NaN])).toEqual({
      'pods/sampled_std': (0.2 + 0.4) / 2,
      'pods/trained_std': (0.5 + 0.7) / 2,
    });
  });
});

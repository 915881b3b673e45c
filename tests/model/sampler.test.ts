import { describe, expect, it } from 'vitest';
import {
  argmax,
  draw,
  isPlain,
  minP,
  processors,
  repetitionPenalty,
  type SamplingOptions,
  softmax,
  temperature,
  topK,
  topP,
} from '../../main/model/sampler.ts';
import { uniform } from '../../main/random.ts';
import { chiSquare } from '../chi-square.ts';

const PLAIN: SamplingOptions = { temperature: 1, topK: 0, topP: 1, minP: null, repetitionPenalty: 1 };
const logs = (...probabilities: number[]): Float32Array => Float32Array.from(probabilities, Math.log);
/** What a processor makes of logits, rounded. */
const processed = (step: (logits: Float32Array, seen: readonly number[]) => void, logits: number[] | Float32Array) => {
  const row = Float32Array.from(logits);
  step(row, [0, 2, 2]);
  return [...row].map((x) => Math.round(x * 1e4) / 1e4);
};
const kept = (step: (logits: Float32Array, seen: readonly number[]) => void, logits: Float32Array): number[] =>
  processed(step, logits).flatMap((x, id) => (x === -Infinity ? [] : [id]));

describe('repetitionPenalty', () => {
  it('divides positive and multiplies negative logits of seen tokens, once each', () => {
    expect(processed(repetitionPenalty(2), [3, 3, -3, -3])).toEqual([1.5, 3, -6, -3]);
  });

  it('ignores seen tokens beyond the row', () => {
    expect(processed(repetitionPenalty(2), [4, 4])).toEqual([2, 4]);
  });
});

describe('temperature', () => {
  it('divides', () => {
    expect(processed(temperature(0.5), [1, -2, 0])).toEqual([2, -4, 0]);
  });
});

describe('topK', () => {
  it('keeps the k largest and what equals the k-th', () => {
    expect(kept(topK(2), Float32Array.of(1, 5, 3, 4))).toEqual([1, 3]);
    expect(kept(topK(2), Float32Array.of(4, 5, 3, 4))).toEqual([0, 1, 3]);
    expect(kept(topK(9), Float32Array.of(1, 5, 3, 4))).toEqual([0, 1, 2, 3]);
  });

  it('finds the k-th of many, equal ones among them, as sorting does', () => {
    for (const [length, values] of [
      [2, 9],
      [57, 3],
      [1000, 40],
      [1000, 1e6],
    ] as const) {
      const logits = Float32Array.from({ length }, (_, i) => Math.floor(values * uniform(5, length, i)) / 8);
      for (const k of [1, 2, length >> 1, length - 1]) {
        const threshold = logits.toSorted()[length - k] as number;
        expect(kept(topK(k), logits)).toEqual([...logits.keys()].filter((id) => (logits[id] as number) >= threshold));
      }
    }
  });
});

describe('topP', () => {
  it('keeps the likeliest tokens until their mass reaches p, the one that crosses it included', () => {
    expect(kept(topP(0.7), logs(0.1, 0.5, 0.15, 0.25))).toEqual([1, 3]);
    expect(kept(topP(0.8), logs(0.1, 0.5, 0.15, 0.25))).toEqual([1, 2, 3]);
    expect(kept(topP(0.4), logs(0.1, 0.5, 0.15, 0.25))).toEqual([1]);
  });

  it('keeps one token whatever p is', () => {
    expect(kept(topP(0), logs(0.1, 0.5, 0.4))).toEqual([1]);
    expect(kept(topP(1e-9), logs(0.1, 0.5, 0.4))).toEqual([1]);
  });
});

describe('minP', () => {
  it("drops tokens below a share of the likeliest one's probability", () => {
    expect(kept(minP(0.3), logs(0.1, 0.5, 0.16, 0.24))).toEqual([1, 2, 3]);
    expect(kept(minP(1), logs(0.1, 0.5, 0.16, 0.24))).toEqual([1]);
  });
});

describe('processors', () => {
  it('asks for nothing when nothing is asked', () => {
    expect(processors(PLAIN)).toEqual([]);
    expect(isPlain(PLAIN)).toBe(true);
    expect(isPlain({ ...PLAIN, temperature: 0.3, minP: 0 })).toBe(true);
  });

  it('works in the order penalty, temperature, top-k, top-p, min-p', () => {
    const options = { temperature: 2, topK: 3, topP: 0.9, minP: 0.5, repetitionPenalty: 1.5 };
    const row = Float32Array.of(3, 2.5, 2.4, 0, -1);
    const steps = [repetitionPenalty(1.5), temperature(2), topK(3), topP(0.9), minP(0.5)];
    const expected = row.slice();
    for (const step of steps) step(expected, [0]);
    for (const step of processors(options)) step(row, [0]);
    expect([...row]).toEqual([...expected]);
    expect(isPlain(options)).toBe(false);
  });

  it('leaves only the penalty at temperature 0', () => {
    const options = { ...PLAIN, temperature: 0, topK: 1, topP: 0.1, repetitionPenalty: 2 };
    expect(processors(options)).toHaveLength(1);
  });
});

describe('draw', () => {
  it('inverts the cumulative sum', () => {
    const row = logs(0.25, 0, 0.25, 0.5);
    expect([0, 0.2499, 0.2501, 0.4999, 0.5001, 1].map((u) => draw(row, u))).toEqual([0, 0, 2, 2, 3, 3]);
  });

  it.each([
    ['everything', PLAIN],
    ['temperature', { ...PLAIN, temperature: 0.6 }],
    ['top-k', { ...PLAIN, topK: 3 }],
    ['top-p', { ...PLAIN, topP: 0.75 }],
    ['min-p', { ...PLAIN, minP: 0.4 }],
    ['the penalty', { ...PLAIN, repetitionPenalty: 1.7 }],
    ['all filters together', { temperature: 1.4, topK: 5, topP: 0.9, minP: 0.1, repetitionPenalty: 1.2 }],
  ])('draws by the distribution that %s leaves', (_, options) => {
    const row = Float32Array.of(1.2, -0.5, 2, 0.3, 1.1, -2, 0.9);
    for (const step of processors(options)) step(row, [2, 5]);
    const expected = softmax(row);
    const counts = new Array<number>(row.length).fill(0);
    const draws = 20_000;
    for (let i = 0; i < draws; i++) {
      const id = draw(row, uniform(3, i));
      counts[id] = (counts[id] ?? 0) + 1;
    }
    // 22.5 is passed once in a thousand times with 6 degrees of freedom; the draws are always the same.
    const statistic = chiSquare(
      counts,
      [...expected].map((p) => p * draws),
    );
    expect(statistic).toBeLessThan(22.5);
  });
});

describe('argmax', () => {
  it('is the first of the largest', () => {
    expect(argmax(Float32Array.of(-3, 2, 2, 1))).toBe(1);
    expect(argmax(Float32Array.of(-Infinity, -Infinity))).toBe(0);
  });
});

describe('softmax', () => {
  it('handles large logits', () => {
    expect([...softmax(Float32Array.of(1000, 1000, -Infinity))]).toEqual([0.5, 0.5, 0]);
  });
});

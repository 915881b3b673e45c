import { describe, expect, it } from 'vitest';
import { comparisonTable, type MeasureInfo } from '../../../main/services/text-worker/comparison-table.ts';

const higher: MeasureInfo = { name: 'score', label: 'Score', better: 'higher' };
const lower: MeasureInfo = { name: 'alike', label: 'Alike', better: 'lower' };
const model = (name: string, score: (i: number) => number, alike: (i: number) => number = () => 0.5) => ({
  name,
  prompts: Array.from({ length: 40 }, (_, i) => ({ score: score(i), alike: alike(i) })),
});
const noise = (i: number): number => ((i * 7) % 10) / 20;

describe('comparisonTable', () => {
  it("names a winner only where it beats every other significantly, in the measure's own direction", () => {
    const models = [
      model('a', noise, (i) => 0.2 + noise(i) / 10),
      model(
        'b',
        (i) => noise(i) + 0.3,
        (i) => 0.6 + noise(i) / 10,
      ),
      model(
        'c',
        (i) => noise(i) + (i % 2 === 0 ? 0.31 : 0.29),
        (i) => 0.7 + noise(i) / 10,
      ),
    ];
    const [score, alike] = comparisonTable({ models, measures: [higher, lower], seed: 42 });
    // b and c both beat a, but not each other.
    expect(score?.winner).toBeNull();
    expect(score?.pairs.map(({ from, to, significant }) => [from, to, significant])).toEqual([
      ['a', 'b', true],
      ['a', 'c', true],
      ['b', 'c', false],
    ]);
    expect(alike?.winner).toBe('a');
    expect(score?.pairs[0]).toMatchObject({
      wins: 40,
      ties: 0,
      losses: 0,
      difference: { mean: expect.closeTo(0.3, 9) },
    });
  });

  it('corrects over the whole table', () => {
    // 5 of 6 wins of the same size: p = 14/64 alone.
    const few = (name: string, gain: number) => ({
      name,
      prompts: [1, 1, 1, 1, 1, 1, 1].map((sign) => ({ score: sign * gain, alike: sign * gain })),
    });
    const [row] = comparisonTable({ models: [few('a', 0), few('b', 1)], measures: [higher], seed: 1 });
    expect(row?.pairs[0]).toMatchObject({ p: 2 / 128, p_corrected: 2 / 128, significant: true });
    const rows = comparisonTable({
      models: [few('a', 0), few('b', 1)],
      measures: [higher, lower, { ...higher, label: 'again' }, higher],
      seed: 1,
    });
    expect(rows[0]?.pairs[0]).toMatchObject({ p_corrected: 8 / 128, significant: false });
    expect(rows[0]?.winner).toBeNull();
  });

  it('can find a difference significant however many models and measures there are', () => {
    // Every prompt gains in each pair: p = 2 / 2^18, far below the level over 9 * 8 / 2 * 14 tests.
    const ranked = Array.from({ length: 9 }, (_, m) => ({
      name: `model ${m}`,
      prompts: Array.from({ length: 18 }, (_, i) => ({ score: m + noise(i) * (m / 9), alike: 0 })),
    }));
    const rows = comparisonTable({ models: ranked, measures: Array.from({ length: 14 }, () => higher), seed: 1 });
    expect(rows[0]?.winner).toBe('model 8');
  });

  it('leaves out prompts where a model has no number, and rows without any', () => {
    const models = [model('a', (i) => (i < 10 ? Number.NaN : 0)), model('b', () => 1)];
    const [row] = comparisonTable({ models, measures: [higher], seed: 1 });
    expect(row?.pairs[0]?.wins).toBe(30);
    const [empty] = comparisonTable({
      models: [model('a', () => Number.NaN), model('b', () => 1)],
      measures: [higher],
      seed: 1,
    });
    expect(empty).toMatchObject({ pairs: [], winner: null });
  });

  it('has no winner where neither direction is better, nor with a single model', () => {
    const models = [model('a', () => 0), model('b', () => 1)];
    expect(comparisonTable({ models, measures: [{ ...higher, better: null }], seed: 1 })[0]?.winner).toBeNull();
    expect(comparisonTable({ models: models.slice(0, 1), measures: [higher], seed: 1 })[0]?.winner).toBeNull();
  });
});

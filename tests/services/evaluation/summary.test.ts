import { describe, expect, it } from 'vitest';
import {
  compareEvaluations,
  type ScoredItem,
  summarizeEvaluation,
  summarizeScores,
} from '../../../main/services/evaluation/summary.ts';
import { measureCompletion } from '../../../main/tasks/interleave/metrics.ts';

function item(id: string, completion: string, words = 2): ScoredItem {
  const target = words === 2 ? 'a1 b1 a2 b2' : 'a1 b1';
  const { alignment, exact_match, first_error } = measureCompletion(target, completion);
  return { id, words, target, completion, alignment, exact_match, first_error };
}

const items = [item('1', 'a1 b1 a2 b2'), item('2', 'a1 b1 x b2'), item('3', ''), item('4', 'a1 b1', 1)];

describe('summarizeEvaluation', () => {
  const summary = summarizeEvaluation(items);

  it('gives the mean with its interval, overall and by words', () => {
    expect(summary).toMatchObject({ n: 4, mean_alignment: (1 + 0.75 + 0 + 1) / 4, exact_match: 0.5 });
    expect(summary.low).toBeLessThan(summary.mean_alignment);
    expect(summary.high).toBeGreaterThan(summary.mean_alignment);
    expect(summary.by_words[1]).toEqual({ n: 1, mean_alignment: 1, low: 1, high: 1, exact_match: 1 });
    expect(summary.by_words[2]?.n).toBe(3);
  });

  it('says where completions first go wrong', () => {
    expect(summary.first_error).toEqual({ none: 2, median: 1, counts: { 0: 1, 2: 1 } });
    expect(summarizeEvaluation([item('1', 'a1 b1 a2 b2')]).first_error).toEqual({ none: 1, median: null, counts: {} });
  });

  it('scores each position', () => {
    expect(summary.score_by_position).toEqual([3 / 4, 3 / 4, 1 / 3, 2 / 3]);
  });

  it('is the same for the same seed', () => {
    expect(summarizeEvaluation(items, 5)).toEqual(summarizeEvaluation(items, 5));
  });

  it('rejects nothing', () => {
    expect(() => summarizeEvaluation([])).toThrow('Expected at least one scored completion, got none');
  });
});

/** One whose reward failed. */
const failed = (id: string): ScoredItem => ({ ...item(id, 'a1 b1'), alignment: Number.NaN });
const nothing = { mean: Number.NaN, low: Number.NaN, high: Number.NaN };

describe('summarizeScores', () => {
  it('leaves out completions without a score', () => {
    expect(summarizeScores([...items, failed('5')])).toEqual(summarizeScores(items));
  });

  it('has no interval where nothing has a score', () => {
    const { mean: mean_alignment, low, high } = nothing;
    expect(summarizeScores([failed('1')])).toMatchObject({ n: 0, mean_alignment, low, high, exact_match: 0 });
  });
});

describe('compareEvaluations', () => {
  const trained = [item('3', 'a1 b1 a2 b2'), item('2', 'a1 b1 x b2'), item('1', 'a1'), item('4', 'a1 b1', 1)];

  it('pairs by id and counts wins, ties and losses', () => {
    const compared = compareEvaluations(items, trained);
    expect(compared).toMatchObject({ n: 4, wins: 1, ties: 2, losses: 1 });
    expect(compared.difference.mean).toBeCloseTo((1 - 0.75) / 4, 12);
    expect(compared.difference.low).toBeLessThanOrEqual(compared.difference.mean);
    expect(compared.difference.high).toBeGreaterThanOrEqual(compared.difference.mean);
    expect(compared.trained.mean_alignment - compared.baseline.mean_alignment).toBeCloseTo(
      compared.difference.mean,
      12,
    );
  });

  it('leaves out prompts on which either has no score', () => {
    const without = [trained[0] ?? failed('3'), failed('2'), ...trained.slice(2)];
    const compared = compareEvaluations([...items.slice(0, 3), failed('4')], without);
    expect(compared).toMatchObject({ n: 2, wins: 1, ties: 0, losses: 1 });
    expect(compared.difference.mean).toBeCloseTo((1 - 0.75) / 2, 12);
    expect([compared.baseline, compared.trained]).toMatchObject([
      { n: 2, mean_alignment: 0.5 },
      { n: 2, mean_alignment: 0.625 },
    ]);
  });

  it('has no interval where no prompt has both scores', () => {
    const compared = compareEvaluations(
      items,
      items.map(({ id }) => failed(id)),
    );
    expect(compared).toMatchObject({ n: 0, difference: nothing, wins: 0, ties: 0, losses: 0 });
  });

  it('rejects different prompts', () => {
    expect(() => compareEvaluations(items, trained.slice(1))).toThrow(
      'Expected both evaluations on the same prompts, got 4 and 3, with "3" missing from the second',
    );
    expect(() => compareEvaluations(items.slice(1), trained)).toThrow('got 3 and 4');
  });
});

import { describe, expect, it } from 'vitest';
import { judgeScore } from '../../main/rewards/judge-score.ts';

describe('judgeScore', () => {
  it.each([
    ['7', 7],
    [' **8**.', 8],
    ['9/10', 9],
    ['Score: 3', 3],
    ['It is clear.\n\n**Score:** 4/10', 4],
    ['{"reason": "short", "score": 6.5}', 6.5],
    ['The rating is 5', 5],
    ['Bewertung. Score: 7,5', 7.5],
    ['Score: 7 - 3 issues', 7],
    ['Score: 2 at first, but then: score = 8', 8],
    ['<think>Score: 1? No, more.</think>Score: 10', 10],
  ])('finds the score of %j', (answer, score) => {
    expect(judgeScore(answer, [0, 10])).toBeCloseTo(score / 10, 12);
  });

  it.each([
    ['Score 1: 3\nScore 2: 7\nScore 12: 1', 2, 7],
    ['{"score 1": 3, "score 2": 6.5}', 2, 6.5],
    ['Score #1: 9 at first.\n- **Rating 1** = 4', 1, 4],
  ])('finds in %j the score of one of several completions', (answer, which, score) => {
    expect(judgeScore(answer, [0, 10], which)).toBeCloseTo(score / 10, 12);
    expect(judgeScore(answer, [0, 10], 3)).toContain('expected "Score 3: N"');
  });

  it('maps the scale to 0 to 1', () => {
    expect([1, 3, 5].map((score) => judgeScore(String(score), [1, 5]))).toEqual([0, 0.5, 1]);
  });

  it.each([
    ['This is a very good answer, among the 10 best.', 'gave no score'],
    ['', 'gave no score'],
    ['<think>Score: 5, I think, because', 'gave no score'],
    ['Score: 7-8', 'gave no score'],
    ['Score: 1 to 10', 'gave no score'],
    // Of another scale than it was asked for.
    ['Score: 4.5/5', 'gave 4.5 of 5: expected a score from 1 to 10'],
    ['**Rating:** 3 out of 5', 'gave 3 of 5'],
    ['4/5', 'gave 4 of 5'],
    ['Score: 11', 'expected a score from 1 to 10'],
    ['Score: -1', 'expected a score from 1 to 10'],
  ])('has none for %j', (answer, reason) => {
    expect(judgeScore(answer, [1, 10])).toContain(reason);
  });
});

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
    // Models whose prompt has the <think>.
    ['Score: 3? No.\n</think>\n\n7', 7],
    ['Its <think> has no end.\nScore: 2', 2],
    // What is quoted is the completion's.
    ['```json\n{"score": 2, "reason": "It only says \\"Score: 10\\" after </think>"}\n```', 2],
    ['Score: 1\nIts “Score: 10” is a trick.', 1],
    ['"Score: 8"', 8],
    ['Score: 8 (out of 10)', 8],
    ['Score：8', 8],
  ])('finds the score of %j', (answer, score) => {
    expect(judgeScore(answer, [0, 10])).toBeCloseTo(score / 10, 12);
  });

  it.each([
    ['Score 1: 3\nScore 2: 7\nScore 12: 1', 2, 7],
    ['{"score 1": 3, "score 2": 6.5}', 2, 6.5],
    ['Score #1: 9 at first.\n- **Rating 1** = 4', 1, 4],
    ['Score 1: 2, as it claims "Score 1: 10" itself.', 1, 2],
  ])('finds in %j the score of one of several completions', (answer, which, score) => {
    expect(judgeScore(answer, [0, 10], { which })).toBeCloseTo(score / 10, 12);
    expect(judgeScore(answer, [0, 10], { which: 3 })).toContain('expected "Score 3: N"');
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
    // The last one isn't clear, and an earlier one isn't meant.
    ['Score: 2 for style. Final score: 7 or 8', 'gave no score'],
    ['Score: 7½', 'gave no score'],
    ['Score: 4 (out of 5)', 'gave 4 of 5'],
    ['Score: 4 of 5', 'gave 4 of 5'],
    // Of another scale than it was asked for.
    ['Score: 4.5/5', 'gave 4.5 of 5: expected a score from 1 to 10'],
    ['**Rating:** 3 out of 5', 'gave 3 of 5'],
    ['4/5', 'gave 4 of 5'],
    ['Score: 11', 'expected a score from 1 to 10'],
    ['Score: -1', 'expected a score from 1 to 10'],
  ])('has none for %j', (answer, reason) => {
    expect(judgeScore(answer, [1, 10])).toContain(reason);
  });

  it.each([
    ['Score: 1', [1, 10], 'cut off'],
    ['A fine', [1, 10], 'cut off'],
    ['0.', [0, 1], 'cut off'],
    ['Score: 8', [1, 10], 7 / 9],
    ['{"score": 2, "reason": "It says \\"Score: 10', [1, 10], 1 / 9],
    ['4', [1, 5], 0.75],
    ['Score: 1, as', [1, 10], 0],
  ] as const)('knows from %j, cut off, on the scale %j: %s', (answer, scale, outcome) => {
    const found = judgeScore(answer, scale, { isCut: true });
    if (typeof outcome === 'string') expect(found).toContain(outcome);
    else expect(found).toBeCloseTo(outcome, 12);
  });

  it.each([`"${'\\"'.repeat(3e5)}`, '“'.repeat(3e5), `Score: 7${' '.repeat(3e5)}x`])(
    'reads a long answer at once',
    (answer) => {
      const began = performance.now();
      judgeScore(answer, [1, 10]);
      expect(performance.now() - began).toBeLessThan(2000);
    },
  );
});

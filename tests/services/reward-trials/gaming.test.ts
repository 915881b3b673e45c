import { describe, expect, it } from 'vitest';
import { correlation, gamingReport } from '../../../main/services/reward-trials/gaming.ts';
import type { TrialAnswer } from '../../../main/services/reward-trials/trial-answers.ts';
import type { TaskFacts } from '../../../main/tasks/task.ts';

const record = { id: 'r', prompt: 'p' };

function answer(step: number, tokens: number, completion: string, finish: 'stop' | 'length' = 'stop'): TrialAnswer {
  return { answer: { record, completion, tokens, finish }, group: String(step), step, before: null };
}

function facts(rewardNames: readonly string[], rewardWeights: readonly number[] | null = null): TaskFacts {
  return {
    name: 'own',
    rewardNames,
    rewardWeights,
    highestReward: null,
    hasTargets: true,
    mainMetric: 'reward',
    show: 'plain',
    maxCompletionLength: null,
  };
}

/** Thirty completions; `of` gives components and check of the i-th. */
function reportOf(
  names: readonly string[],
  of: (i: number) => { parts: Record<string, number>; check: number },
  weights: readonly number[] | null = null,
) {
  const rows = Array.from({ length: 30 }, (_, i) => of(i));
  const answers = rows.map((_, i) => answer(i < 15 ? 1 : 10, 10 + i, `word${i} other${i * 7}`));
  const scores = rows.map(({ parts }) => ({ components: parts, failure: null }));
  return gamingReport(facts(names, weights), 'check', answers, {
    scores,
    checks: rows.map(({ check }) => check),
  } as never);
}

describe('correlation', () => {
  it("is Pearson's r over the pairs of numbers", () => {
    expect(correlation([1, 2, 3, Number.NaN], [2, 4, 6, 100])).toBeCloseTo(1, 12);
    expect(correlation([1, 2, 3, 4], [4, 3, 2, 1])).toBeCloseTo(-1, 12);
    expect(correlation([1, 2, 3], [1, 3, 2])).toBeCloseTo(0.5, 12);
  });

  it('is NaN where one of them does not vary', () => {
    expect(correlation([1, 2, 3], [5, 5, 5])).toBeNaN();
  });
});

describe('gamingReport', () => {
  it('names parts that say the same, and a reward that is paid for length', () => {
    const { names, findings } = reportOf(['a', 'b'], (i) => ({ parts: { a: i, b: 2 * i + 1 }, check: i }));
    expect(names).toEqual(['a', 'b', 'reward', 'check', 'length', 'repetition']);
    expect(findings).toContainEqual(expect.stringContaining('a and b say the same (r 1.00)'));
    expect(findings).toContainEqual(expect.stringContaining('paid for long completions (r 1.00 with length)'));
  });

  it('says that parts cancel out only where their weights let them', () => {
    const opposed = (weights: readonly number[] | null, sign = -1) =>
      reportOf(['a', 'b'], (i) => ({ parts: { a: i, b: sign * i }, check: i }), weights).findings.filter((finding) =>
        finding.startsWith('a and b'),
      );
    expect(opposed(null)).toEqual(['a and b cancel each other out (r −1.00).']);
    expect(opposed([0.9, 0.1])).toEqual(['a and b work against each other (r −1.00).']);
    expect(opposed([1, -1])).toEqual([expect.stringContaining('say the same (r −1.00)')]);
    expect(opposed([1, -1], 1)).toEqual(['a and b cancel each other out (r 1.00).']);
    expect(opposed([1, 0])).toEqual([]);
  });

  it('names a reward that goes against the check, and a rise that the check does not follow', () => {
    const { findings, drift } = reportOf(['a'], (i) => ({ parts: { a: i < 15 ? 0 : 1 }, check: i < 15 ? 0.8 : 0.2 }));
    expect(drift.map(({ step, reward, check }) => [step, reward, check])).toEqual([
      [1, 0, expect.closeTo(0.8)],
      [10, 1, expect.closeTo(0.2)],
    ]);
    expect(findings).toContainEqual(expect.stringContaining('goes against check (r −1.00)'));
    expect(findings).toContainEqual(
      expect.stringContaining("The reward rises from 0.00 to 1.00, and check doesn't follow"),
    );
  });

  it('finds nothing in an honest reward', () => {
    const { findings } = reportOf(['a'], (i) => ({ parts: { a: (i * 7) % 5 }, check: (i * 7) % 5 }));
    expect(findings).toEqual([]);
  });

  it('draws no conclusions from a few completions', () => {
    const answers = [answer(1, 1, 'a'), answer(1, 100, 'b')];
    const scores = [0, 1].map((a) => ({ components: { a }, failure: null }));
    const { findings } = gamingReport(facts(['a']), null, answers, { scores, checks: null } as never);
    expect(findings).toEqual([]);
  });

  it('finds tools that are never called or always fail', () => {
    const message = { role: 'tool' as const, name: 'price', content: '{"error":"no"}' };
    const answers = Array.from({ length: 30 }, (_, i): TrialAnswer => {
      const { answer: given, ...rest } = answer(1, 10 + i, `word${i}`);
      return { ...rest, answer: { ...given, messages: [message] } };
    });
    const scores = answers.map((_, i) => ({ components: { a: i % 3 }, failure: null }));
    const own = { ...facts(['a']), toolNames: ['price', 'sum'] };
    const { findings } = gamingReport(own, null, answers, { scores, checks: null } as never);
    expect(findings).toEqual(
      expect.arrayContaining([
        'The tool sum is never called in 30 completions.',
        'All 30 calls of the tool price failed.',
      ]),
    );
  });
});

import { describe, expect, it } from 'vitest';
import type { ReplyRun, ReportView } from '../../../main/api/contract/index.ts';
import { findingOf, seedsSentence } from '../../../renderer/replies/finding.ts';

type Numbers = ReportView['numbers'];
type Pair = Numbers['rows'][number]['pairs'][number];

const pair = (from: string, to: string, gain: number, significant: boolean): Pair => ({
  from,
  to,
  difference: { mean: gain, low: gain - 0.03, high: gain + 0.03 },
  p: 0.01,
  p_corrected: 0.02,
  significant,
  wins: 9,
  ties: 1,
  losses: 2,
});

function report(means: readonly (readonly [ReplyRun, number])[], pairs: readonly Pair[], winner: string | null = null) {
  const row = {
    name: 'reward',
    label: 'Reward',
    better: 'higher' as const,
    pairs,
    winner,
    means: means.map(([model, mean]) => ({ model, mean, low: mean - 0.01, high: mean + 0.01 })),
  };
  const models = means.map(([name]) => ({ name, terminated: 1, seconds: 1 }));
  return { numbers: { prompts: 48, models, rows: [row] } as unknown as Numbers };
}

const method = (name: ReplyRun, state: string | null) => ({
  name,
  newest: state === null ? null : ({ runId: 1, state } as never),
});
const all = (['baseline', 'polychromic', 'grpo_from_baseline'] as const).map((name) => method(name, 'done'));

describe('findingOf', () => {
  it('names a winner with its gain over the baseline and its interval', () => {
    const pairs = [
      pair('baseline', 'polychromic', 0.02, false),
      pair('baseline', 'grpo_from_baseline', 0.14, true),
      pair('polychromic', 'grpo_from_baseline', 0.12, true),
    ];
    const means = [
      ['baseline', 0.5],
      ['polychromic', 0.52],
      ['grpo_from_baseline', 0.64],
    ] as const;
    expect(findingOf(report(means, pairs, 'grpo_from_baseline'), all)).toMatchObject({
      kind: 'good',
      sentence:
        'GRPO writes the best replies on 48 held-out posts: mean reward 0.640, +0.140 [+0.110, +0.170] against Baseline; it beats every other model significantly.',
    });
  });

  it('says what stays open where two methods improve alike', () => {
    const pairs = [
      pair('baseline', 'grpo_from_baseline', 0.14, true),
      pair('baseline', 'polychromic_grpo', 0.13, true),
      pair('grpo_from_baseline', 'polychromic_grpo', -0.01, false),
    ];
    const means = [
      ['baseline', 0.5],
      ['grpo_from_baseline', 0.64],
      ['polychromic_grpo', 0.63],
    ] as const;
    expect(findingOf(report(means, pairs), all).sentence).toMatch(
      /^GRPO improves on Baseline .*\+0\.140 \[\+0\.110, \+0\.170\]; its lead over Polychromic GRPO, \+0\.010 \[−0\.020, \+0\.040\], is not significant after correction\.$/,
    );
  });

  it('is honest where nothing is significant', () => {
    const means = [
      ['baseline', 0.5],
      ['grpo_from_baseline', 0.52],
    ] as const;
    const better = findingOf(report(means, [pair('baseline', 'grpo_from_baseline', 0.02, false)]), all);
    expect(better).toMatchObject({ kind: 'open' });
    expect(better.sentence).toContain('can be chance');
    const worse = [
      ['baseline', 0.5],
      ['grpo_from_baseline', 0.4],
    ] as const;
    expect(findingOf(report(worse, [pair('baseline', 'grpo_from_baseline', -0.1, true)]), all).sentence).toMatch(
      /^No method is significantly better than Baseline/,
    );
  });

  it('names the lead that is not significant, and does not deny those that are', () => {
    const means = [
      ['baseline', 0.5],
      ['polychromic', 0.55],
      ['grpo_from_baseline', 0.64],
    ] as const;
    const sure = pair('polychromic', 'grpo_from_baseline', 0.09, true);
    // Ahead of the next one for sure, of the baseline by chance.
    const open = findingOf(report(means, [pair('baseline', 'grpo_from_baseline', 0.14, false), sure]), all);
    expect(open.sentence).not.toContain('No model is significantly better');
    expect(open.sentence).toContain('GRPO has the highest mean reward 0.640 on 48 held-out posts, but its difference');
    const three = [...means.slice(0, 1), ['polychromic_grpo', 0.4], ...means.slice(1)] as const;
    const pairs = [
      pair('baseline', 'grpo_from_baseline', 0.14, true),
      pair('polychromic_grpo', 'grpo_from_baseline', 0.24, false),
      sure,
    ];
    expect(findingOf(report(three, pairs), all).sentence).toContain('its lead over Polychromic GRPO');
  });

  it('names the methods that are missing, and those that finished since', () => {
    const means = [
      ['baseline', 0.5],
      ['grpo_from_baseline', 0.52],
    ] as const;
    const pairs = [pair('baseline', 'grpo_from_baseline', 0.02, false)];
    const { limits } = findingOf(report(means, pairs), [...all, method('polychromic_grpo', 'running')]);
    expect(limits).toMatch(/^Without Polychromic GRPO: no finished run\. Polychromic finished since; compare again\./);
  });

  it('says that nothing is known without a comparison', () => {
    expect(
      findingOf(
        null,
        all.map(({ name }) => method(name, null)),
      ),
    ).toMatchObject({
      kind: 'none',
      limits: 'No method has a finished run; a comparison needs two.',
    });
    expect(findingOf(null, [method('baseline', 'done'), method('polychromic', 'failed')]).limits).toBe(
      'Only Baseline has a finished run; a comparison needs two.',
    );
    expect(findingOf(null, [...all, method('polychromic_grpo', null)])).toMatchObject({
      sentence: 'Nothing is compared yet: 3 of 4 methods have a finished run.',
      limits: 'Still missing: Polychromic GRPO.',
    });
  });
});

describe('seedsSentence', () => {
  const model = (name: string, mean: number) => ({
    model: name,
    n: 3,
    mean,
    interval: { mean, low: mean - 0.02, high: mean + 0.02 },
  });
  const table = (winner: string | null) => ({
    seeds: [42, 43, 44],
    at: 0,
    models: ['baseline', 'grpo_from_baseline'],
    rows: [
      {
        name: 'reward',
        label: 'Reward',
        better: 'higher' as const,
        winner,
        models: [model('baseline', 0.66), model('grpo_from_baseline', 0.76)],
      },
    ],
  });

  it('says what the seeds show, and only claims what is significant', () => {
    expect(seedsSentence(table('grpo_from_baseline'))).toBe(
      'Over 3 seeds, GRPO is significantly better than every other: 0.760 ± 0.020 against 0.660 ± 0.020 of Baseline.',
    );
    expect(seedsSentence(table(null))).toMatch(
      /^Over 3 seeds, GRPO has the highest mean reward, but not significantly/,
    );
    expect(seedsSentence({ ...table(null), rows: [] })).toBeNull();
  });
});

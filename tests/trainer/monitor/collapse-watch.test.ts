import { describe, expect, it } from 'vitest';
import {
  startWatch,
  type WatchResult,
  type WatchState,
  watchStep,
} from '../../../main/trainer/monitor/collapse-watch.ts';
import type { Metrics } from '../../../main/trainer/protocol/trainer-events.ts';

const settings = {
  patience: 3,
  numGenerations: 16,
  groupsPerGeneration: 8,
  numIterations: 2,
  temperature: 0.7,
  learningRate: 2e-4,
  beta: 0,
  maxSteps: 200,
  highestReward: 1,
} as const;

const healthy: Metrics = {
  loss: 0.1,
  grad_norm: 0.5,
  reward: 0.5,
  entropy: 0.8,
  'groups/dead': 0.125,
  'groups/solved': 0,
  'completions/unique_ratio': 0.9,
  'completions/identical_groups': 0,
  'completions/repetition': 0.05,
};

/** Feeds steps and keeps all that was said, with the step it was said at. */
function watch(steps: readonly Metrics[], start: WatchState = startWatch(), change: object = {}) {
  let state = start;
  const said: { step: number; what: WatchResult['warnings'][number] | WatchResult['notices'][number] }[] = [];
  steps.forEach((metrics, step) => {
    const result = watchStep(state, metrics, { ...settings, ...change });
    state = result.state;
    for (const what of [...result.warnings, ...result.notices]) said.push({ step, what });
  });
  return { state, said, warnings: said.flatMap(({ step, what }) => ('rule' in what ? [{ step, ...what }] : [])) };
}

const times = (n: number, metrics: Metrics): Metrics[] => Array.from({ length: n }, () => metrics);
const identical = {
  ...healthy,
  'groups/dead': 0.875,
  'completions/identical_groups': 0.875,
  'completions/unique_ratio': 0.06,
};

describe('watchStep', () => {
  it('says nothing about a healthy run', () => {
    expect(watch(times(50, healthy)).said).toEqual([]);
  });

  it('warns once of identical completions after `patience` steps, with cause and remedy', () => {
    const { warnings } = watch([...times(2, healthy), ...times(20, identical)]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toEqual({
      step: 4,
      rule: 'dead_groups',
      message: 'All 16 completions are identical in 7 of 8 groups, so there is no training signal.',
      remedy: 'Raise the temperature to 1.0, or train on easier records first.',
    });
  });

  it('needs the steps in a row', () => {
    const steps = Array.from({ length: 30 }, (_, i) => (i % 3 === 2 ? healthy : identical));
    expect(watch(steps).said).toEqual([]);
  });

  it('warns again only after a recovery as long as the patience', () => {
    const flap = [...times(3, identical), ...times(2, healthy), ...times(5, identical)];
    expect(watch(flap).warnings.map(({ step }) => step)).toEqual([2]);
    const recovered = [...times(3, identical), ...times(3, healthy), ...times(5, identical)];
    expect(watch(recovered).warnings.map(({ step }) => step)).toEqual([2, 8]);
  });

  it('distinguishes truncated completions and too hard stages from identical ones', () => {
    const dead = { ...healthy, reward: 0.02, 'groups/dead': 1 };
    const [hard] = watch(times(3, dead)).warnings;
    expect(hard?.message).toContain('in 8 of 8 groups (mean reward 0.02)');
    expect(hard?.message).toContain('too hard');
    const [cut] = watch(times(3, { ...dead, 'completions/clipped_ratio': 0.97 })).warnings;
    expect(cut?.message).toContain('97% of the completions hit max_completion_length');
    expect(cut?.remedy).toContain('Raise max_completion_length');
    // A text that varies as it is only gets worse from a higher temperature.
    const [varied] = watch(times(3, { ...dead, entropy: 2.5 })).warnings;
    expect(varied?.remedy).toMatch(/raise num_generations so that/);
    expect(varied?.remedy).not.toContain('temperature');
  });

  it('warns where the reward is flat for two fifths of the run though completions differ', () => {
    const noisy = Array.from({ length: 70 }, (_, i) => ({ ...healthy, reward: 0.52 + 0.03 * Math.sin(i) }));
    const short = { maxSteps: 70 };
    const [warning, ...others] = watch(noisy, startWatch(), short).warnings;
    expect(others).toEqual([]);
    expect(warning).toMatchObject({ step: 30, rule: 'no_progress' });
    expect(warning?.message).toMatch(/^The reward has not risen for \d+ steps\. At 0\.5/);
    expect(warning?.remedy).toContain('easier records');
    // Not in a longer run, nor where it rises slowly, is nearly as good as can be, or the best isn't known.
    expect(watch(noisy).warnings).toEqual([]);
    const rising = noisy.map((metrics, i) => ({ ...metrics, reward: 0.5 + 0.002 * i }));
    expect(watch(rising, startWatch(), short).warnings).toEqual([]);
    const good = noisy.map((metrics) => ({ ...metrics, reward: 0.9 }));
    expect(watch(good, startWatch(), short).warnings).toEqual([]);
    expect(watch(noisy, startWatch(), { ...short, highestReward: null }).warnings).toEqual([]);
    // Nor where another warning has said why.
    const alike = noisy.map((metrics) => ({ ...metrics, 'completions/unique_ratio': 0.1 }));
    expect(watch(alike, startWatch(), short).warnings.map(({ rule }) => rule)).toEqual(['repetition']);
  });

  it('counts steps that reuse a generation where it counts flat steps, and resumes the count', () => {
    const reused = { loss: 0.1, grad_norm: 0.5, entropy: 0.8 };
    const steps = Array.from({ length: 70 }, (_, i) => (i % 4 === 0 ? healthy : reused));
    const short = { maxSteps: 70 };
    const { warnings } = watch([reused, ...steps], startWatch(), short);
    // 28 steps after the first reward, and three more of patience.
    expect(warnings).toMatchObject([{ step: 31, rule: 'no_progress' }]);
    expect(warnings[0]?.message).toContain('for 30 steps');
    const { state } = watch(steps.slice(0, 20), startWatch(), short);
    const resumed = watch(steps.slice(20), JSON.parse(JSON.stringify(state)), short);
    expect(resumed.warnings).toMatchObject([{ step: 10, rule: 'no_progress' }]);
  });

  it('counts dead groups and completions alike as healthy where the others have a signal', () => {
    const few = { ...healthy, 'groups/dead': 0.75, 'groups/spread': 0.031 };
    expect(watch(times(10, few)).said).toEqual([]);
    expect(watch(times(10, { ...few, 'groups/dead': 0.5, 'completions/unique_ratio': 0.1 })).said).toEqual([]);
    // A jump to far longer texts: the groups that aren't dead differ in a word.
    const [jump] = watch(times(10, { ...few, 'groups/spread': 0.005 })).warnings;
    expect(jump?.rule).toBe('dead_groups');
    // The same spread is little of a higher maximum, and of an unknown one nothing can be said.
    for (const highestReward of [6, null])
      expect(watch(times(3, few), startWatch(), { highestReward }).warnings[0]?.rule).toBe('dead_groups');
  });

  it('counts a step as bad whose rewards all failed', () => {
    const { reward: _, 'groups/dead': dead, 'groups/solved': solved, ...sampled } = healthy;
    const skipped = { ...sampled, frac_reward_zero_std: 0, reward_failures: 0.25 };
    const [warning] = watch([healthy, ...times(3, skipped)]).warnings;
    expect(warning).toMatchObject({ step: 3, rule: 'dead_groups' });
    expect(warning?.message).toContain('The reward failed on 25% of the completions');
    // As failures that count as 0 do, where they are nearly all.
    const zero = { ...healthy, reward: 0.01, 'groups/dead': 1, reward_failures: 0.97 };
    expect(watch(times(3, zero)).warnings[0]?.message).toContain('The reward failed on 97%');
    expect(watch(times(9, { ...healthy, reward_failures: 0.25 })).said).toEqual([]);
  });

  it('works with TRL metrics alone', () => {
    const [first] = watch(times(3, { reward: 0.1, frac_reward_zero_std: 1 })).warnings;
    expect(first?.rule).toBe('dead_groups');
  });

  it('calls a stage learned, without a warning, when groups are dead because all completions are right', () => {
    const learned = {
      ...identical,
      reward: 0.99,
      entropy: 0.001,
      'groups/dead': 1,
      'groups/solved': 1,
      'completions/identical_groups': 1,
    };
    const { said, warnings } = watch([...times(5, healthy), ...times(20, learned)]);
    expect(warnings).toEqual([]);
    expect(said).toHaveLength(1);
    expect(said[0]?.step).toBe(7);
    expect(said[0]?.what).toMatchObject({ topic: 'learned' });
    expect(said[0]?.what.message).toContain('The mean reward is 0.99');
    // Solved groups also count one by one, while the mean is not yet at the top.
    const half = { ...healthy, reward: 0.8, 'groups/dead': 0.875, 'groups/solved': 0.75 };
    expect(watch(times(10, half)).said).toEqual([]);
  });

  it('warns of equal rewards below the known maximum', () => {
    const stuck = { ...healthy, reward: 1, 'groups/dead': 1 };
    expect(watch(times(3, stuck), startWatch(), { highestReward: 6 }).warnings[0]?.rule).toBe('dead_groups');
    expect(watch(times(3, stuck), startWatch(), { highestReward: null }).warnings[0]?.rule).toBe('dead_groups');
  });

  it('warns of an entropy below a tenth of its start, unless the reward is rising', () => {
    const low = { ...healthy, entropy: 0.07 };
    expect(watch([...times(3, healthy), ...times(5, low)]).warnings).toMatchObject([{ step: 5, rule: 'entropy' }]);
    const rising = Array.from({ length: 10 }, (_, i) => ({ ...low, reward: 0.5 + 0.04 * (i + 1) }));
    expect(watch([...times(3, healthy), ...rising]).said).toEqual([]);
    // 0.79 → 0.081 is just not a tenth.
    expect(watch([...times(3, healthy), ...times(5, { ...healthy, entropy: 0.081 })]).said).toEqual([]);
  });

  it('judges a model that starts out certain by its own start', () => {
    const certain = { ...healthy, entropy: 0.008 };
    expect(watch(times(10, certain)).said).toEqual([]);
    expect(watch([...times(3, certain), ...times(3, { ...healthy, entropy: 0.0005 })]).warnings).toMatchObject([
      { rule: 'entropy' },
    ]);
  });

  it('warns of a KL above 10 and again when it explodes', () => {
    const { warnings } = watch([...times(3, { ...healthy, kl: 12 }), ...times(2, { ...healthy, kl: 16 })]);
    expect(warnings.map(({ step, rule }) => [step, rule])).toEqual([
      [2, 'kl'],
      [3, 'kl'],
    ]);
    expect(warnings[0]?.message).toContain('12.0 nats per token');
    expect(warnings[0]?.remedy).toContain('raise beta to 0.04');
    expect(warnings[1]?.message).toContain('exploding (16.0 nats per token)');
    expect(watch(times(3, { ...healthy, kl: Number.NaN })).warnings[0]?.message).toContain('not a finite number');
    expect(watch(times(9, { ...healthy, kl: 10 })).said).toEqual([]);
  });

  it('warns of repeated n-grams and of groups that hardly differ', () => {
    expect(watch(times(3, { ...healthy, 'completions/repetition': 0.6 })).warnings).toMatchObject([
      { rule: 'repetition', remedy: expect.stringContaining('repetition_penalty') },
    ]);
    const [alike] = watch(times(3, { ...healthy, 'completions/unique_ratio': 0.125 })).warnings;
    expect(alike?.message).toContain('Only about 2.0 of the 16 completions');
  });

  it('warns of a loss or norm that is not finite', () => {
    const { warnings } = watch(times(4, { ...healthy, loss: Number.NaN, grad_norm: Number.POSITIVE_INFINITY }));
    expect(warnings).toMatchObject([{ step: 2, rule: 'not_finite' }]);
    expect(warnings[0]?.message).toContain('loss and grad_norm are not a finite number');
  });

  it('explains a loss of 0 once, and only at one iteration', () => {
    const zero = times(5, { ...healthy, loss: 1e-9 });
    expect(watch(zero, startWatch(), { numIterations: 1 }).said).toMatchObject([
      { step: 0, what: { topic: 'loss_zero', message: expect.stringContaining('normal at num_iterations 1') } },
    ]);
    expect(watch(zero).said).toEqual([]);
  });

  it('says that there was nothing to learn where loss and gradient are 0, and why', () => {
    const once = { numIterations: 1 };
    const { 'groups/dead': _dead, reward: _reward, ...unscored }: Metrics = healthy;
    const said = (metrics: Metrics, change: object = {}) =>
      watch([{ ...unscored, loss: 0, grad_norm: 0, ...metrics }], startWatch(), { ...once, ...change }).said.map(
        ({ what }) => what.message,
      );
    const dead = { 'groups/dead': 1 };
    for (const [metrics, change, why] of [
      [dead, {}, 'all completions of each group get the same reward.'],
      [{ ...dead, 'groups/solved': 1 }, {}, 'the same reward, the highest one.'],
      [dead, { weightless: true }, 'all reward_weights are 0.'],
      [{ 'completions/clipped_ratio': 1 }, { masksTruncated: true }, 'all completions were cut off'],
      [{ 'completions/clipped_ratio': 1 }, {}, 'no completion that counts has an advantage.'],
      [{ ...dead, reward_rounded: 1 }, {}, 'rewards differ by less than float32 can tell apart.'],
      [{}, {}, 'no completion that counts has an advantage.'],
      [{ reward_failures: 1 }, {}, 'rewards failed in every group, so that all are skipped.'],
      [dead, { numIterations: 2 }, 'all completions of each group'],
      [{ grad_norm: 1e-12, ...dead }, {}, 'all completions of each group'],
    ] as const) {
      const messages = said(metrics, change);
      expect(messages).toHaveLength(1);
      expect(messages[0]).toContain('There was nothing to learn from in this step');
      expect(messages[0]).toContain(why);
    }
    // Once, and the usual reason can still be said of a later step.
    const later = watch(
      [...times(3, { ...healthy, loss: 0, grad_norm: 0, ...dead }), { ...healthy, loss: 0 }],
      startWatch(),
      { ...once, patience: 9 },
    );
    expect(later.said.map(({ step, what }) => [step, 'topic' in what && what.topic])).toEqual([
      [0, 'nothing_learned'],
      [3, 'loss_zero'],
    ]);
  });

  it('says nothing of a gradient that a server does not report', () => {
    const { grad_norm: _, ...unknown }: Metrics = { ...healthy, loss: 0 };
    const [said] = watch([unknown], startWatch(), { numIterations: 1 }).said;
    expect(said?.what.message).toContain('A loss of 0 is normal');
    expect(said?.what.message).not.toContain('gradient');
    expect(watch([{ ...unknown, 'groups/dead': 1 }], startWatch(), { numIterations: 1 }).said).toEqual([]);
  });

  it('names weights of 0, a text that is close to random, and rewards that tell nothing apart', () => {
    const first = (metrics: Metrics, change: object = {}) =>
      watch(times(3, { ...healthy, 'groups/dead': 1, ...metrics }), startWatch(), change).warnings[0];
    expect(first({ reward: 0 }, { weightless: true })?.message).toContain('All reward_weights are 0');
    expect(first({ reward_rounded: 1 })?.message).toContain('float32 can tell apart in 8 of 8 groups');
    const random = first({ entropy: 8.3, 'completions/clipped_ratio': 1 });
    expect(random?.message).toContain('close to random (entropy 8.3 nats per token)');
    expect(random?.remedy).toContain('lower the learning rate');
    expect(first({ reward: 0.9 })?.message).toContain('The reward does not tell them apart.');
    expect(first({ reward: -5 }, { highestReward: null })?.message).not.toContain('too hard');
    expect(first({ reward: 0.1, reward_failures: 0.1 })?.message).toContain('in 100% of the scored groups');
    // At the top it is learned, whether or not the groups count as solved.
    expect(first({ reward: 0.96 })).toBeUndefined();
  });

  it('counts steps that reuse a generation neither way', () => {
    const reused = { loss: 0.1, grad_norm: 0.5, entropy: 0.8 };
    const { warnings } = watch([identical, reused, identical, reused, identical, reused, reused, reused, identical]);
    expect(warnings.map(({ step, rule }) => [step, rule])).toEqual([[4, 'dead_groups']]);
    // A learned stage stays excused in between.
    const learned = { ...healthy, reward: 0.99, entropy: 0.001 };
    expect(
      watch([...times(3, healthy), ...times(4, learned), ...times(6, { ...reused, entropy: 0.001 })]).said,
    ).toEqual([]);
  });

  it('resumes from its state as JSON', () => {
    const { state } = watch([...times(3, healthy), ...times(2, identical)]);
    const restored = JSON.parse(JSON.stringify(state)) as WatchState;
    expect(restored).toEqual(state);
    expect(watch([identical], restored).warnings).toMatchObject([{ step: 0, rule: 'dead_groups' }]);
  });
});

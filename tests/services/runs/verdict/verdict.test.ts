import { describe, expect, it } from 'vitest';
import { type VerdictInput, verdictOn } from '../../../../main/services/runs/verdict/verdict.ts';
import type { Metrics } from '../../../../main/trainer/protocol/trainer-events.ts';

const settings: VerdictInput['settings'] = {
  patience: 5,
  numGenerations: 16,
  groupsPerGeneration: 8,
  numIterations: 1,
  temperature: 1,
  learningRate: 1e-5,
  beta: 0,
  maxSteps: 200,
  highestReward: 1,
};

const healthy: Metrics = {
  reward: 0.5,
  reward_std: 0.1,
  'groups/dead': 0.125,
  'groups/solved': 0,
  'completions/unique_ratio': 0.9,
  'completions/repetition': 0.01,
  entropy: 0.4,
  loss: 0.00001,
  grad_norm: 0.2,
};

const rewardsOf = (steps: VerdictInput['steps']) =>
  steps.flatMap(({ step, metrics: { reward } }) => (reward === undefined ? [] : [{ step, value: reward }]));

/** `count` steps, each the healthy one with changes that may depend on the step. */
function judged(
  count: number,
  changes: (step: number) => Metrics = () => ({}),
  rest: Partial<VerdictInput> = {},
): ReturnType<typeof verdictOn> {
  const steps = Array.from({ length: count }, (_, i) => ({ step: i + 1, metrics: { ...healthy, ...changes(i + 1) } }));
  const input: VerdictInput = {
    method: 'grpo',
    settings,
    weights: { alignment: 1 },
    aggregation: 'sum_then_normalize',
    steps,
    rewards: () => rewardsOf(steps),
    startEntropy: 0.4,
    evaluations: [],
    goal: null,
    ended: false,
  };
  return verdictOn({ ...input, ...rest });
}

const rising = (step: number): Metrics => ({ reward: 0.4 + step * 0.004 });

describe('verdictOn', () => {
  it('has nothing to say before the first step, and little after a few', () => {
    expect(judged(0)).toMatchObject({ tone: 'quiet', title: 'no steps yet' });
    expect(judged(3)).toMatchObject({ tone: 'quiet', title: 'too early to say' });
    expect(judged(10).title).toBe('too early to say');
    expect(judged(10, (step) => ({ reward: step / 20 })).title).toBe('learning');
  });

  it('judges a reward that several steps share by as many generations', () => {
    const shared = (reward: (step: number) => number) => {
      const { reward: _, ...reused } = healthy;
      const steps = Array.from({ length: 48 }, (_, i) => ({
        step: i + 1,
        metrics: i % 3 === 0 ? { ...healthy, reward: reward(i) } : reused,
      }));
      return judged(0, undefined, { steps, rewards: () => rewardsOf(steps) });
    };
    expect(shared(() => 0.5).sentences[0]).toContain('no change in the last 46 steps');
    expect(shared((step) => 0.2 + step * 0.004).title).toBe('learning');
  });

  it('leads to a warm-up where the reward stays near 0 and the records have targets', () => {
    const stuck = (): Metrics => ({ reward: 0.05 });
    const warmable = { settings: { ...settings, canWarmUp: true } };
    expect(judged(20, stuck, warmable)).toMatchObject({
      title: 'flat',
      remedy: expect.stringContaining('warm_up_steps 40'),
    });
    expect(judged(20, stuck).remedy).toContain('raise the temperature');
    expect(judged(20, () => ({ reward: 0.3 }), warmable).remedy).toContain('raise the temperature');
    const flatFor = (step: number): Metrics => ({ reward: step < 2 ? 0.06 : 0.05 });
    expect(judged(120, flatFor, warmable)).toMatchObject({
      title: 'no progress',
      remedy: expect.stringMatching(/^Warm the model up on the targets first \(warm_up_steps\)/),
    });
  });

  it('judges a warm-up by its loss, and GRPO without its steps', () => {
    const warm = Array.from({ length: 10 }, (_, i) => ({
      step: i + 1,
      metrics: { 'warm_up/loss': 3 - i / 10, grad_norm: 1 },
    }));
    expect(judged(0, undefined, { steps: warm })).toMatchObject({
      tone: 'quiet',
      title: 'warming up',
      sentences: [expect.stringContaining('Loss'), 'Rewards are measured once GRPO begins.'],
    });
    const overflow = [...warm, { step: 11, metrics: { 'warm_up/loss': Number.NaN } }];
    expect(judged(0, undefined, { steps: overflow })).toMatchObject({
      tone: 'bad',
      remedy: 'Lower warm_up_learning_rate to a third.',
    });
    const after = Array.from({ length: 3 }, (_, i) => ({ step: 11 + i, metrics: healthy }));
    expect(judged(0, undefined, { steps: [...warm, ...after] }).title).toBe('too early to say');
  });

  it('has nothing left to wait for once the run has ended', () => {
    const ended = { ended: true };
    expect(judged(3, undefined, ended)).toMatchObject({ title: 'too short to say' });
    expect(judged(40).remedy).toMatch(/^Give it time/);
    expect(judged(40, undefined, ended).remedy).toMatch(/^For the next run/);
    const falling = (step: number): Metrics => ({ reward: 0.6 - step * 0.004 });
    expect(judged(40, falling).remedy).toMatch(/^Wait/);
    expect(judged(40, falling, ended).remedy).toMatch(/next run/);
    const goal = { at_least: 0.9, evaluations: 1 };
    const evaluations = [{ step: 40, mean: 0.95 }];
    expect(judged(40, rising, { goal, evaluations, ended: true }).remedy).toBe(
      'Start the next stage from its checkpoint.',
    );
  });

  it('sees learning, and says that a few dead groups and a loss of 0 are fine', () => {
    const { tone, title, sentences } = judged(40, rising);
    expect([tone, title]).toEqual(['good', 'learning']);
    expect(sentences).toEqual([
      'Training reward +0.08 in the last 20 steps, now 0.55 (mean of 5).',
      '1 of 8 groups is dead, which is fine.',
      'A loss near 0 (now 0.00001) is normal here; the gradient is not 0.',
    ]);
  });

  it('says of a flat reward what rewards within groups say, and nothing where that was not logged', () => {
    const said = (metrics: Metrics, highestReward: number | null = 1) =>
      judged(60, () => metrics, { settings: { ...settings, highestReward } }).sentences.join(' ');
    // The whole step's deviation, 0.1 here, is also that of prompts that are easier than others.
    expect(said({ 'groups/spread': 0.05 })).toContain(
      'Rewards within a group do differ (standard deviation 0.05, mean over groups), so there is a training signal.',
    );
    expect(said({ 'groups/spread': 0.012 })).toContain('hardly differ (standard deviation 0.012, mean over groups)');
    expect(said({ 'groups/spread': 0.05 }, null)).toContain('Rewards within a group differ (standard deviation 0.05');
    expect(said({})).not.toContain('within a group');
  });

  it('says that there is no progress where the reward is flat for much of the run, far from the top', () => {
    const standing = (reward: number) => judged(90, (step) => ({ reward: reward + 0.01 * (step % 2) }));
    expect(standing(0.5)).toMatchObject({ tone: 'warn', title: 'no progress' });
    expect(standing(0.5).sentences[0]).toMatch(
      /^The reward has not risen for \d+ steps\. At 0\.5\d it is far from the best possible 1/,
    );
    expect(standing(0.85).title).toBe('flat');
    expect(judged(60).title).toBe('flat');
  });

  it('counts the steps that reuse a generation as flat, too', () => {
    const flatFor = (count: number) => {
      const reused = { loss: 0.1, grad_norm: 0.2, entropy: 0.4 };
      const steps = Array.from({ length: count }, (_, i) => ({ step: i + 1, metrics: i % 2 === 0 ? healthy : reused }));
      return judged(0, undefined, { steps, rewards: () => rewardsOf(steps) });
    };
    expect(flatFor(90)).toMatchObject({ title: 'no progress' });
    expect(flatFor(90).sentences[0]).toContain('not risen for 89 steps. At 0.50');
    expect(flatFor(80).title).not.toBe('no progress');
  });

  it('does not call a loss of 0 normal where the gradient is 0 too, or where a batch is used several times', () => {
    const text = (verdict: ReturnType<typeof verdictOn>): string => verdict.sentences.join(' ');
    expect(text(judged(40, (step) => ({ ...rising(step), grad_norm: 0 })))).not.toContain('loss near 0');
    expect(text(judged(40, rising, { settings: { ...settings, numIterations: 2 } }))).not.toContain('loss near 0');
    // The newest loss decides, which is shown beside the chart.
    expect(text(judged(40, (step) => ({ ...rising(step), loss: step === 40 ? 0.0242 : 0 })))).not.toContain('near 0');
    // So does its gradient: where all groups of the newest step are dead, the loss is 0 because there is none.
    const solvedLast = (step: number) => (step === 40 ? { loss: 0, grad_norm: 0 } : {});
    expect(text(judged(40, (step) => ({ ...rising(step), ...solvedLast(step) })))).not.toContain('near 0');
  });

  it('finds no signal where nearly all groups are dead, with the way out', () => {
    const dead = judged(20, () => ({ 'groups/dead': 0.875, reward: 0.3 }));
    expect(dead).toMatchObject({ tone: 'warn', title: 'no signal' });
    expect(dead.sentences[0]).toContain('7 of 8 groups');
    expect(dead.remedy).toContain('easier records');
    expect(dead.remedy).toContain('temperature');
  });

  it('names identical completions as the cause', () => {
    const same = judged(20, () => ({ 'groups/dead': 1, 'completions/identical_groups': 1, reward: 0.3 }));
    expect(same.sentences[0]).toContain('All 16 completions are identical in 8 of 8 groups');
  });

  it('says how many groups give no signal when half of them are dead', () => {
    const { title, sentences, remedy } = judged(40, (step) => ({ ...rising(step), 'groups/dead': 0.5 }));
    expect(title).toBe('learning');
    expect(sentences[1]).toBe('4 of 8 groups are dead: those groups give no training signal.');
    // As its remedy: without one, the panel below says that nothing stands out.
    expect(remedy).toMatch(/temperature/);
  });

  it('knows solved groups from dead ones, and a learned stage from a collapse', () => {
    const solving = judged(40, () => ({ reward: 0.93, 'groups/dead': 0.5, 'groups/solved': 0.5 }));
    expect(solving).toMatchObject({ tone: 'good', title: 'near the top' });
    expect(solving.sentences[1]).toBe('4 of 8 groups are dead because they are solved, which is fine.');
    const nearly = judged(40, () => ({ reward: 0.93, 'groups/dead': 0.75, 'groups/solved': 0.625 }));
    expect(nearly.sentences[1]).toBe('6 of 8 groups are dead, 5 of them solved, which is fine.');
    const learned = judged(40, () => ({ reward: 0.99, 'groups/dead': 1, 'groups/solved': 1, entropy: 0.001 }));
    expect(learned).toMatchObject({ tone: 'good', title: 'learned' });
  });

  it('detects the end of exploration with a flat reward', () => {
    const silent = judged(40, (step) => ({ entropy: step > 20 ? 0.005 : 0.4 }));
    expect(silent).toMatchObject({ tone: 'warn', title: 'no longer exploring' });
    expect(silent.sentences[0]).toContain('entropy has fallen to 0.0050 from 0.40');
  });

  it('has one voice above the goal: completions that are alike are no trouble there, damage is', () => {
    const goal = { at_least: 0.9, evaluations: 2 };
    const scores = (...means: number[]) => means.map((mean, i) => ({ step: 10 * (i + 1), mean }));
    const alike = (): Metrics => ({ 'completions/unique_ratio': 0.1, reward: 0.8 });
    const met = { goal, evaluations: scores(0.6, 0.92, 0.93) };
    expect(judged(40, alike).title).toBe('exploring too little');
    const verdict = judged(40, alike, met);
    expect(verdict).toMatchObject({ tone: 'good', title: 'goal reached' });
    expect(verdict.sentences[0]).toBe('Held-out score 0.930 at step 30; the goal of 0.9 is met 2 times in a row.');
    expect(`${verdict.sentences.join(' ')} ${verdict.remedy}`).not.toMatch(/go back/i);
    expect(judged(40, alike, { goal, evaluations: scores(0.6, 0.93) }).title).toBe('close to the goal');
    expect(judged(40, alike, { goal, evaluations: scores(0.93, 0.6) }).title).toBe('exploring too little');
    expect(judged(40, () => ({ ...alike(), kl: 16 }), met).title).toBe('drifting');
    expect(judged(40, (step) => ({ ...alike(), reward: 0.9 - step * 0.004 }), met).title).toBe('getting worse');
  });

  it('sees repetition, drift and overflow', () => {
    expect(judged(20, () => ({ 'completions/repetition': 0.7 })).title).toBe('exploring too little');
    expect(judged(20, () => ({ kl: 16 }))).toMatchObject({ tone: 'bad', title: 'drifting' });
    expect(judged(20, () => ({ loss: Number.NaN }))).toMatchObject({ tone: 'bad', title: 'numbers overflowed' });
  });

  it('finds components that cancel, and names them', () => {
    const parts = { 'rewards/length/std': 0.3, 'rewards/wit/std': 0.28, 'rewards/tone/std': 0.01 };
    const weights = { length: 1, wit: -1, tone: 1 };
    const cancelling = judged(20, () => ({ ...parts, reward_std: 0.02 }), { weights });
    expect(cancelling).toMatchObject({ tone: 'warn', title: 'components cancel' });
    expect(cancelling.sentences[0]).toContain('length varies by 0.3 and wit by 0.28');
    expect(cancelling.remedy).toContain('normalize_then_sum');
    const sets = judged(20, () => ({ ...parts, reward_std: 0.02 }), { method: 'polychromic-grpo', weights });
    expect(sets.remedy).toMatch(/^Change reward_weights so that length and wit don't work against each other\.$/);
    expect(judged(20, () => ({ ...parts, reward_std: 0.3 }), { weights }).title).not.toBe('components cancel');
    expect(judged(20, () => ({ 'rewards/alignment/std': 0.3, reward_std: 0.01 })).title).not.toBe('components cancel');
  });

  it('counts each component by its weight, whatever its sign', () => {
    const title = (parts: Metrics, rest: Partial<VerdictInput>) => judged(20, () => parts, rest).title;
    const three = { 'rewards/a/std': 0.1, 'rewards/b/std': 0.1, 'rewards/brief/std': 0.5 };
    // 0.1 x 0.5: brief is light in the sum, not cancelled.
    const light = { weights: { a: 0.4, b: 0.5, brief: 0.1 } };
    expect(title({ ...three, reward_std: 0.05 }, light)).not.toBe('components cancel');
    expect(title({ ...three, reward_std: 0.05 }, { weights: { a: 0, b: 0, brief: 0.1 } })).not.toBe(
      'components cancel',
    );
    const heavy = { 'rewards/a/std': 0.5, 'rewards/b/std': 0.05, reward_std: 0.01 };
    const opposed = judged(20, () => heavy, { weights: { a: 0.1, b: -1 } });
    expect(opposed.title).toBe('components cancel');
    expect(opposed.sentences[0]).toContain(
      'a varies by 0.05 and b by 0.05 between completions (times their weights), but their sum only by 0.01',
    );
    // Normalised one by one, or with only one that a few completions have, nothing is cancelled.
    const normalised = { weights: { a: 0.1, b: -1 }, aggregation: 'normalize_then_sum' } as const;
    expect(title(heavy, normalised)).not.toBe('components cancel');
    expect(
      title({ 'rewards/a/std': 0.5, 'rewards/b/std': 0.01, reward_std: 0.1 }, { weights: { a: 1, b: 1 } }),
    ).not.toBe('components cancel');
    expect(title(heavy, { weights: null })).not.toBe('components cancel');
  });

  it('says of a gradient only what is known', () => {
    const text = (change: Metrics): string =>
      judged(40, (step) => ({ ...rising(step), ...change })).sentences.join(' ');
    expect(text({})).toContain('the gradient is not 0');
    expect(text({ grad_norm: 1e-12 })).not.toContain('gradient');
    const { grad_norm: _, ...unknown } = healthy;
    const steps = Array.from({ length: 40 }, (_, i) => ({ step: i + 1, metrics: { ...unknown, ...rising(i + 1) } }));
    expect(judged(40, rising, { steps }).sentences.join(' ')).not.toContain('gradient');
  });

  it('does not count dead groups where only the share of the whole batch is known', () => {
    const { 'groups/dead': _, 'groups/solved': __, ...trl } = healthy;
    const steps = Array.from({ length: 40 }, (_, i) => ({
      step: i + 1,
      metrics: { ...trl, ...rising(i + 1), frac_reward_zero_std: 0 },
    }));
    expect(judged(40, rising, { steps }).sentences.join(' ')).not.toContain('dead');
    const few = (step: number) => ({ ...rising(step), 'groups/dead': 0.02 });
    expect(judged(40, few).sentences).toContain('Hardly any group is dead.');
  });

  it('does not call a group of equal rewards dead where its diversity teaches', () => {
    const sets = { method: 'polychromic-grpo', settings: { ...settings, equalTeaches: true } } as const;
    expect(judged(20, () => ({ 'groups/dead': 1, reward: 0.3 }), sets).title).toBe('flat');
    expect(judged(20, () => ({ 'groups/dead': 1, 'groups/spread': 0 }), sets).sentences.join(' ')).not.toMatch(
      /dead|differ/,
    );
    // With rewards of 0 there is no signal there either.
    expect(judged(20, () => ({ 'groups/dead': 1, reward: 0, grad_norm: 0 }), sets).title).toBe('no signal');
  });

  it('judges a reward whose maximum is 0 or negative by what lacks to it', () => {
    const with0 = { settings: { ...settings, highestReward: 0 } };
    expect(judged(40, () => ({ reward: -3 }), with0).title).toBe('flat');
    const spread = judged(40, () => ({ reward: -3, 'groups/spread': 0 }), with0);
    expect(spread.sentences.join(' ')).toContain("Rewards within a group don't differ");
    const below = { settings: { ...settings, highestReward: -1 } };
    expect(judged(40, () => ({ reward: -1, 'groups/dead': 1, 'groups/solved': 1 }), below).title).toBe('learned');
    expect(judged(60, () => ({ reward: -1.02 }), below).title).toBe('near the top');
  });

  it('does not count the baseline as an evaluation of the run', () => {
    const goal = { at_least: 0.9, evaluations: 2 };
    const from = (...means: number[]) => means.map((mean, i) => ({ step: 7 * i, mean }));
    const after = judged(7, () => ({}), { goal, evaluations: from(0.969, 0.905) });
    // Nor is a run praised that has made the model worse.
    expect(after).toMatchObject({ tone: 'warn', title: 'worse than its start' });
    expect(after.sentences[0]).toBe(
      'Held-out score 0.905 at step 7, below the 0.969 before the run; the goal of 0.9 is met by the newest evaluation, and needs 2 in a row.',
    );
    expect(judged(7, () => ({}), { goal, evaluations: from(0.5, 0.905) }).title).toBe('close to the goal');
    expect(judged(3, () => ({}), { goal, evaluations: from(0.969) }).title).toBe('too early to say');
    const worse = judged(40, rising, { evaluations: from(0.9, 0.7, 0.6) });
    expect(worse.remedy).toContain('The model was best before the run');
  });

  it('warns of a score below its own baseline, below the goal and of supervised runs, too', () => {
    const from = (...means: number[]) => means.map((mean, i) => ({ step: 7 * i, mean }));
    const worse = 'worse than its start';
    expect(judged(7, rising, { evaluations: from(0.5, 0.4) })).toMatchObject({ tone: 'warn', title: worse });
    const fitted = Array.from({ length: 20 }, (_, i) => ({ step: i + 1, metrics: { loss: 2 - i / 20 } }));
    const supervised = { method: 'sft', steps: fitted } as const;
    expect(judged(0, undefined, { ...supervised, evaluations: from(0.5, 0.4) }).title).toBe(worse);
    expect(judged(0, undefined, { ...supervised, evaluations: from(0.5, 0.6) }).title).toBe('learning');
    // A little less may be chance, while the run continues and nobody would be praised for it.
    expect(judged(40, rising, { evaluations: from(0.5, 0.49) }).title).toBe('learning');
    const small = 'no better than its start';
    expect(judged(40, rising, { evaluations: from(0.5, 0.49), ended: true }).title).toBe(small);
    const goal = { at_least: 0.9, evaluations: 1 };
    expect(judged(40, rising, { evaluations: from(0.95, 0.94), goal })).toMatchObject({ tone: 'warn', title: small });
    const between = judged(40, () => ({}), { evaluations: from(0.5, 0.8, 0.4) });
    expect(between.remedy).toContain('The checkpoint nearest to step 7 scored 0.800: roll back to it');
  });

  it('calls completions alike only where they are', () => {
    const goal = { at_least: 0.9, evaluations: 1 };
    const met = { goal, evaluations: [{ step: 30, mean: 0.95 }] };
    const failing = { 'groups/dead': 1, 'completions/unique_ratio': 0.9, reward_failures: 0.9 };
    expect(judged(40, () => failing, met).sentences).toHaveLength(2);
    expect(judged(40, () => ({ 'completions/unique_ratio': 0.1 }), met).sentences[2]).toContain('nearly alike');
  });

  it('waits for some steps before it calls anything but damage', () => {
    const dead = () => ({ 'groups/dead': 1, reward: 0.1 });
    expect(judged(2, dead)).toMatchObject({ title: 'too early to say', remedy: null });
    expect(judged(2, dead, { ended: true }).remedy).toContain('temperature');
    expect(judged(2, () => ({ kl: 16 })).title).toBe('drifting');
  });

  it('sees reward rise while the held-out score falls', () => {
    const evaluations = [0.5, 0.7, 0.6].map((mean, i) => ({ step: (i + 1) * 10, mean }));
    const verdict = judged(40, rising, { evaluations });
    expect(verdict).toMatchObject({ tone: 'warn', title: 'overfitting' });
    expect(verdict.remedy).toContain('step 20');
    expect(judged(40, rising, { evaluations: evaluations.slice(0, 2) }).title).toBe('learning');
  });

  it('knows flat from falling, and noise from both', () => {
    const noise = (step: number): Metrics => ({ reward: 0.5 + (step % 2 === 0 ? 0.03 : -0.03) });
    expect(judged(40, noise)).toMatchObject({ tone: 'quiet', title: 'flat' });
    const falling = judged(40, (step) => ({ reward: 0.6 - step * 0.004 }));
    expect(falling).toMatchObject({ tone: 'warn', title: 'getting worse' });
    expect(falling.sentences[0]).toBe('Training reward −0.08 in the last 20 steps, now 0.45 (mean of 5).');
  });

  it('reports completions that are cut off', () => {
    const verdict = judged(40, (step) => ({ ...rising(step), 'completions/clipped_ratio': 0.4 }));
    expect(verdict.sentences).toContain('40% of the completions are cut off at max_completion_length.');
  });

  it('judges supervised fitting by its loss', () => {
    const sft = { method: 'sft' } as const;
    expect(judged(40, (step) => ({ loss: 2 - step * 0.01 }), sft)).toMatchObject({ tone: 'good', title: 'learning' });
    expect(judged(40, (step) => ({ loss: 1 + step * 0.01 }), sft)).toMatchObject({ title: 'getting worse' });
    expect(judged(40, () => ({ loss: 1 }), sft)).toMatchObject({ title: 'flat' });
    expect(judged(3, () => ({ loss: 1 }), sft)).toMatchObject({ title: 'too early to say' });
    expect(judged(20, () => ({ loss: Number.NaN }), sft)).toMatchObject({ tone: 'bad' });
    const polychromic = { method: 'polychromic-sft' } as const;
    expect(judged(40, (step) => ({ loss: 1 + step * 0.01 }), polychromic)).toMatchObject({ title: 'getting worse' });
  });
});

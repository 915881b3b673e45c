import { describe, expect, it } from 'vitest';
import { signalBudget as budgetOf, SIGNAL_SETTINGS } from '../../../../main/services/training/signal/budget.ts';
import type { SignalStep } from '../../../../main/services/training/signal/signal-step.ts';
import { configFaults, parseConfig, type TrainConfig } from '../../../../main/trainer/config/config.ts';
import type { GroupOutcome } from '../../../../main/trainer/protocol/trainer-events.ts';

const config = parseConfig({ num_generations: 8, per_device_train_batch_size: 32 });

/** Without a dataset unless a test has one. */
const signalBudget = (
  steps: readonly SignalStep[],
  settings: TrainConfig,
  words: ReadonlyMap<string, number> | null = null,
  hasNegative = false,
) =>
  budgetOf(
    steps,
    settings,
    () => words,
    () => hasNegative,
  );

/** One letter a group: t(eaches), s(olved), d(ead); the prompts are a, b, c … */
function step(at: number, letters: string): SignalStep {
  const outcomes = { t: 'teaches', s: 'solved', d: 'dead' } as const;
  const groups = [...letters].map(
    (letter, i): GroupOutcome => ({
      recordId: 'abcdef'[i] ?? '',
      outcome: outcomes[letter as keyof typeof outcomes],
      reward: 0.5,
    }),
  );
  return { step: at, groups, sampling: 2, training: 4, total: 7 };
}

/** Of training, where a group that teaches nothing takes a third. */
const costAt = (teaches: number): number => teaches + (1 - teaches) / 3;

function secondsOf(budget: ReturnType<typeof signalBudget>, setting: string) {
  return budget?.savings.find((saving) => saving.setting === setting)?.seconds;
}

describe('signalBudget', () => {
  const steps = [step(1, 'tttd'), step(2, 'tssd')];
  const budget = signalBudget(steps, config);

  it('shares out the groups of each step, and prompts by their last group', () => {
    expect(budget?.bins).toEqual([
      { from: 1, to: 1, teaches: 0.75, solved: 0, dead: 0.25 },
      { from: 2, to: 2, teaches: 0.25, solved: 0.5, dead: 0.25 },
    ]);
    expect(budget?.prompts).toEqual({ teaches: 1, solved: 2, dead: 1 });
    expect(budget).toMatchObject({ groups: 8, seconds: 14 });
  });

  it('counts a forward pass of the groups that taught nothing, and the backward one where they have it', () => {
    // Of 4 s of training at a quarter and three quarters of such groups; a forward pass takes a third.
    const idle = 4 * (0.25 / 3 / (0.75 + 0.25 / 3)) + 4 * (0.75 / 3 / (0.25 + 0.75 / 3));
    expect(budget?.wasted).toBeCloseTo(2 * 0.25 + 2 * 0.75 + idle, 10);
    for (const settings of [{ beta: 0.04 }, { entropy_coef: 0.01 }, { use_adaptive_entropy: true }, { engine: 'far' }])
      expect(signalBudget(steps, { ...config, ...settings })?.wasted).toBeCloseTo(6 * 0.25 + 6 * 0.75, 10);
  });

  it('joins the steps of a long run', () => {
    const long = signalBudget(
      Array.from({ length: 130 }, (_, i) => step(i + 1, i < 3 ? 'td' : 'tt')),
      config,
    );
    expect(long?.bins).toHaveLength(44);
    expect(long?.bins[0]).toEqual({ from: 1, to: 3, teaches: 0.5, solved: 0, dead: 0.5 });
    expect(long?.bins.at(-1)).toMatchObject({ from: 130, to: 130, teaches: 1 });
  });

  it('estimates dynamic sampling by rounds of the same share of dead groups', () => {
    const [first, second] = [0.25, 0.75].map((d) => ({
      seconds: 7 + 2 * (d + d ** 2 + d ** 3) + 4 * (costAt(1 - d ** 4) / costAt(1 - d) - 1),
      teaching: 4 * (1 - d ** 4),
    }));
    const seconds = (first?.seconds ?? 0) + (second?.seconds ?? 0);
    const teaching = (first?.teaching ?? 0) + (second?.teaching ?? 0);
    expect(secondsOf(budget, 'dynamic_sampling')).toBeCloseTo(14 - 4 * (seconds / teaching), 10);
  });

  it('replays which prompts GRESO would have skipped', () => {
    // Only d is drawn with probability 1/2, at step 2: 4 of 7.5 groups teach in place of 4 of 8.
    const seconds = 14 + 8 * (costAt(4 / 7.5) / costAt(0.5) - 1);
    expect(secondsOf(budget, 'greso_exploration')).toBeCloseTo(14 - 4 * (seconds / ((4 / 7.5) * 8)), 10);
  });

  it('takes half of the loss for PODS, and keeps as many groups in a micro-batch', () => {
    expect(budget?.savings.find(({ setting }) => setting === 'pods_update_size')).toEqual({
      setting: 'pods_update_size',
      isUsed: false,
      conflict: null,
      unknown: null,
      seconds: 4,
      change: { pods_update_size: 4, per_device_train_batch_size: 16 },
    });
    const small = signalBudget([step(1, 'tt')], { ...config, num_generations: 2 });
    expect(small?.savings.map(({ setting }) => setting)).not.toContain('pods_update_size');
  });

  it('knows no saving where nothing teaches, and none of what is in use', () => {
    const dead = signalBudget([step(1, 'dddd')], config);
    for (const setting of ['dynamic_sampling', 'greso_exploration', 'adarft_target_reward'])
      expect(dead?.savings.find((saving) => saving.setting === setting)).toMatchObject({
        seconds: null,
        unknown: 'no_signal',
      });
    const used = signalBudget([step(1, 'tttd')], {
      ...config,
      dynamic_sampling: 2,
      pods_update_size: 4,
      scale_rewards: 'mean',
      use_adaptive_entropy: true,
    });
    expect(used?.savings.filter(({ isUsed }) => isUsed)).toEqual(
      ['dynamic_sampling', 'pods_update_size', 'scale_rewards', 'use_adaptive_entropy'].map((setting) => ({
        setting,
        isUsed: true,
        conflict: null,
        seconds: null,
        unknown: null,
        change: null,
      })),
    );
  });

  it('predicts no saving of settings that change the update', () => {
    expect(budget?.savings.slice(-2)).toEqual([
      {
        setting: 'scale_rewards',
        isUsed: false,
        conflict: null,
        seconds: null,
        unknown: 'changes_update',
        change: { scale_rewards: 'mean' },
      },
      {
        setting: 'use_adaptive_entropy',
        isUsed: false,
        conflict: null,
        seconds: null,
        unknown: 'changes_update',
        change: { use_adaptive_entropy: true },
      },
    ]);
  });

  it('offers no mean scaling where rewards are below 0, or where it would be ignored', () => {
    const scaling = (settings: TrainConfig, hasNegative: boolean) =>
      signalBudget([step(1, 'tttd')], settings, null, hasNegative)?.savings.find(
        ({ setting }) => setting === 'scale_rewards',
      );
    const none = { seconds: null, change: null };
    expect(scaling(config, true)).toMatchObject({ ...none, conflict: null, unknown: 'negative_rewards' });
    for (const hasNegative of [false, true])
      expect(scaling({ ...config, multi_objective_aggregation: 'normalize_then_sum' }, hasNegative)).toMatchObject({
        ...none,
        conflict: 'multi_objective_aggregation',
        unknown: null,
      });
    // Of a run that uses it, its rewards don't matter.
    expect(scaling({ ...config, scale_rewards: 'mean' }, true)).toMatchObject({ isUsed: true, unknown: null });
  });

  it('offers exactly what can be combined with the settings of the run', () => {
    const runs: readonly Partial<TrainConfig>[] = [
      {},
      { adarft_target_reward: 0.9 },
      { dynamic_sampling: 1 },
      { greso_exploration: 0.5 },
      { reward_weights: [1, -1] },
      { scale_rewards: 'mean' },
    ];
    const changes: Partial<TrainConfig> = {
      dynamic_sampling: 3,
      greso_exploration: 0.5,
      adarft_target_reward: 0.5,
      scale_rewards: 'mean',
      use_adaptive_entropy: true,
    };
    const words = new Map([...'abcd'].map((id, i) => [id, i + 1]));
    let ruledOut = 0;
    for (const run of runs) {
      const of = signalBudget([step(1, 'tttd')], { ...config, ...run }, words);
      expect(of?.savings.map(({ setting }) => setting)).toEqual(SIGNAL_SETTINGS);
      for (const { setting, isUsed, conflict, change } of of?.savings ?? []) {
        if (isUsed) continue;
        const faults = configFaults({ ...config, ...run, [setting]: changes[setting] });
        const isRefused = setting !== 'pods_update_size' && faults.length > 0;
        expect([run, setting, conflict !== null]).toEqual([run, setting, isRefused]);
        expect(change === null).toBe(isRefused);
        if (isRefused) ruledOut++;
      }
    }
    expect(ruledOut).toBe(5);
  });

  it('has nothing to say without groups', () => {
    expect(signalBudget([], config)).toBeNull();
  });
});

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { computeAdvantages } from '../../main/trainer/advantages/advantages.ts';
import { parseConfig, type TrainConfig } from '../../main/trainer/config/config.ts';
import { completionMetrics, generationTokens, rewardMetrics } from '../../main/trainer/monitor/metrics.ts';
import { expectAllClose, expectClose, expectMetrics, type LoggedMetrics } from './closeness.ts';

/** See grpo.py. A reward of null doesn't apply. */
interface AdvantageCase {
  readonly settings: Partial<TrainConfig>;
  readonly rewards: readonly (readonly (number | null)[])[];
  readonly lengths: readonly number[];
  readonly ended: readonly boolean[];
  readonly prompt_lengths: readonly number[];
  readonly advantages: number[];
  readonly items: number;
  readonly metrics: LoggedMetrics;
  /** Equal rewards in which TRL's float32 sums find a spread. */
  readonly rounding?: true;
}

const file = new URL('./fixtures/grpo-advantages.json', import.meta.url);
const cases = JSON.parse(readFileSync(file, 'utf8')) as readonly AdvantageCase[];

describe('computeAdvantages and the metrics of a generation against TRL', () => {
  for (const [i, reference] of cases.filter(({ rounding }) => rounding !== true).entries()) {
    it(`case ${i}: ${JSON.stringify(reference.settings)}`, () => {
      const config = parseConfig({ num_generations: 4, per_device_train_batch_size: 8, ...reference.settings });
      const rewards = reference.rewards.map((values) => values.map((value) => value ?? Number.NaN));
      const result = computeAdvantages(rewards, config);
      expectAllClose(result.advantages, reference.advantages, 'advantages');
      expectMetrics(
        {
          num_tokens: generationTokens(reference.prompt_lengths, reference.lengths),
          ...completionMetrics(reference.lengths, reference.ended),
          ...rewardMetrics(['first', 'second'], rewards, result),
        },
        reference.metrics,
      );
      const counted = reference.lengths.filter((_, row) => !config.mask_truncated_completions || reference.ended[row]);
      expectClose(
        counted.reduce((a, b) => a + b, 0),
        reference.items,
        'num_items_in_batch',
      );
    });
  }
});

describe('computeAdvantages where TRL rounds', () => {
  it('finds equal rewards equal', () => {
    const [reference] = cases.filter(({ rounding }) => rounding === true);
    const config = parseConfig({ num_generations: 4, per_device_train_batch_size: 8, ...reference?.settings });
    const result = computeAdvantages(reference?.rewards.map((row) => row.map(Number)) ?? [], config);
    expect(reference?.metrics.frac_reward_zero_std).toEqual([0]);
    expect(Math.max(...(reference?.advantages ?? []).map(Math.abs))).toBeGreaterThan(1e-4);
    expect(result.fracRewardZeroStd).toBe(1);
    expect(result.advantages.every((advantage) => advantage === 0)).toBe(true);
  });
});

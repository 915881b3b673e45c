import { describe, expect, it } from 'vitest';
import { type AdvantageConfig, computeAdvantages } from '../../../main/trainer/advantages/advantages.ts';
import { componentWarnings } from '../../../main/trainer/monitor/component-rule.ts';
import { completionMetrics, rewardMetrics, StepAccumulator } from '../../../main/trainer/monitor/metrics.ts';
import type { Metrics } from '../../../main/trainer/protocol/trainer-events.ts';

const names = ['relevance', 'length'];
/** A step as it is reported: without a number there is no mean. */
function step(relevance: number, length = 1): Metrics {
  const metrics = new StepAccumulator();
  metrics.add(rewardMetrics(names, [[relevance], [length]], computeAdvantages([[relevance], [length]], config)));
  metrics.add(completionMetrics([5], [true]));
  return metrics.take();
}
const config: AdvantageConfig = {
  num_generations: 1,
  scale_rewards: 'group',
  multi_objective_aggregation: 'sum_then_normalize',
  reward_weights: null,
};
const nothing = Number.NaN;

describe('componentWarnings', () => {
  it('warns once that a component is NaN, and again after a recovery', () => {
    const history = [step(nothing), step(nothing), step(0.5), step(nothing)];
    const counts = history.map((_, i) => componentWarnings(history.slice(0, i + 1), names).length);
    expect(counts).toEqual([1, 0, 0, 1]);
    expect(componentWarnings(history, names)[0]?.message).toBe(
      'The reward component relevance was not a number for any completion, so it is excluded from the reward.',
    );
    const none = componentWarnings([step(nothing, nothing)], names);
    expect(none).toHaveLength(2);
    expect(none[0]?.remedy).toContain('nothing to learn from');
    expect(componentWarnings([step(nothing)], names)[0]?.remedy).toContain('continues without it');
  });

  it('ignores steps that reuse a generation, and stays silent when all is well', () => {
    expect(componentWarnings([step(nothing), { loss: 1 }, step(nothing)], names)).toEqual([]);
    expect(componentWarnings([{ loss: 1 }], names)).toEqual([]);
    expect(componentWarnings([step(0.5)], names)).toEqual([]);
    expect(componentWarnings([], names)).toEqual([]);
  });

  it('leaves it to the failures to explain a generation that nothing was scored of', () => {
    const failed = { ...step(nothing, nothing), reward_failures: 0.5 };
    expect(componentWarnings([step(0.5), failed], names)).toEqual([]);
    expect(componentWarnings([step(0.5), failed, step(0.5)], names)).toEqual([]);
    expect(componentWarnings([{ ...step(nothing), reward_failures: 0.5 }], names)).toHaveLength(1);
  });
});
